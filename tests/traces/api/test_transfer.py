"""Import and export over REST."""

from __future__ import annotations

import json

import pytest

from tests import builders
from tests.traces.api.samples import entry, post_lines, text_of
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db


def test_an_import_reports_each_repair_and_a_dry_run_changes_nothing(agent):
    raw = '{"intentId": "INT-1", "filePath": "a.js", "timestamp": "2026-02-21T12:00:00Z"}\n'
    strict = post_lines(agent, raw, "traces/import")
    assert (strict.status_code, strict.json()["valid"], strict.json()["errors"][0]["line"]) == (400, False, 1)
    planned = post_lines(agent, raw, "traces/import?lenient=true&dry_run=true").json()
    assert not LedgerEntry.objects.filter(kind="trace").exists()
    done = post_lines(agent, raw, "traces/import?lenient=true", content_type="text/plain").json()
    assert planned == done
    assert {warning["type"] for warning in done["warnings"]} == {"ID_ASSIGNED", "REPAIRED"}
    assert (done["valid"], done["entries"], done["errors"]) == (True, 1, [])
    assert post_lines(agent, raw, "traces/import?lenient=perhaps").status_code == 400


def test_the_export_is_what_the_import_takes(agent, acme):
    agent.post("traces", [entry("a", mutation_class="AST_REFACTOR"), entry("b", extra=[1, {"x": None}])])
    exported = text_of(agent.get("traces/export", format="orchestration"))
    assert [json.loads(line) for line in exported.splitlines()] == [
        entry("a", mutation_class="AST_REFACTOR"),
        entry("b", extra=[1, {"x": None}]),
    ]
    assert exported.startswith('{"id":"a","timestamp":')
    other = builders.speaker(builders.workspace("other"))
    assert post_lines(other, exported, "traces/import").json()["entries"] == 2
    assert text_of(other.get("traces/export")) == exported
    assert post_lines(other, exported, "traces/import").json()["duplicates"] == 2
    assert text_of(agent.get("traces/export", intent="INT-009")) == ""
    assert agent.get("traces/export", format="xml").status_code == 400


def test_agent_trace_records_go_out_and_come_back_the_same(agent):
    agent.post(
        "traces", [entry("a", mutation_class="AST_REFACTOR"), entry("b", session="https://x/sessions/7")]
    )
    native = text_of(agent.get("traces/export"))
    records = text_of(agent.get("traces/export", format="agent-trace"))
    assert json.loads(records.splitlines()[0])["version"] == "0.1.0"
    other = builders.speaker(builders.workspace("other"))
    assert post_lines(other, records, "traces/import").json()["entries"] == 2
    assert text_of(other.get("traces/export")) == native
