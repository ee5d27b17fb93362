"""Once bodies are archived, pages and REST say where they are, and go on with what is known."""

from __future__ import annotations

import json

import jsonschema
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.builders import intent, signed_in
from tests.traces.interchange.formats.record_schema import RECORD
from traces.archives import archive
from traces.entries.recorded_calls import find_decision, to_recorded_call
from traces.filemap.touches import load_touches
from traces.ledger.missing_bodies import TAKEN_OUT, MissingBodies
from traces.ledger.redaction import redact
from traces.ledger.sealing import seal
from traces.models import LedgerEntry, LedgerLeaf
from traces.timeline.timeline import TimelineWindow, load_timeline

pytestmark = pytest.mark.django_db
FILE = "acme-ledger-0-255.jsonl.gz"


def trace(number):
    lines = {"start_line": 3, "end_line": 9, "content_hash": "sha256:" + "a" * 64}
    talk = {
        "url": "s-1",
        "contributor": {"entity_type": "AI", "model_identifier": "model-1"},
        "ranges": [lines],
        "related": [{"type": "specification", "value": "INT-001"}],
        "secret_remark": "only in the body",
    }
    files = [{"relative_path": f"src/auth/{number}.ts", "conversations": [talk]}]
    return {
        "id": f"e-{number}",
        "timestamp": "2026-02-21T12:00:00Z",
        "vcs": {"revision_id": "abc123"},
        "mutation_class": "AST_REFACTOR",
        "files": files,
    }


@pytest.fixture
def shelved(acme, agent, tmp_path):
    """A workspace whose first 256 entries are archived and let go of: decisions of s-1, then traces."""
    intent(acme)
    agent.select("INT-001")
    for n in range(5):
        agent.gate("write_to_file", path=f"src/auth/{n}.ts", content="x")
    agent.gate("write_to_file", path="docs/no.md", content="x")
    agent.post("traces", [trace(n) for n in range(260)])
    seal(acme.pk)
    made = archive.create_archive(acme.pk, "acme", 256, tmp_path, actor="test")
    archive.release_bodies(made, tmp_path / made.name, actor="test")
    seal(acme.pk)
    return acme


def place_of(entry_id):
    return LedgerLeaf.objects.get(entry__entry_id=entry_id).seq


def test_rest_tells_the_outline_and_the_archive(shelved, agent):
    (found,) = [one for one in agent.get("traces?path=src/auth/7.ts").json()["results"] if one["id"] == "e-7"]
    place = found.pop("ledger")
    assert (place["archived_in"], place["redacted"], place["seq"]) == (FILE, False, place_of("e-7"))
    archived = found.pop("archived")
    assert archived == {"file": FILE, "entry": place_of("e-7")}
    whole = trace(7)
    del whole["files"][0]["conversations"][0]["secret_remark"]
    assert found == whole


def test_a_redacted_entry_is_not_called_archived(shelved, agent):
    redact(LedgerEntry.objects.get(entry_id="e-200"), reason="secret", actor="Ada")
    (found,) = [one for one in agent.get("traces", limit=100).json()["results"] if one["id"] == "e-200"]
    assert found == {"id": "e-200", "ledger": found["ledger"]}
    assert (found["ledger"]["archived_in"], found["ledger"]["redacted"]) == (None, True)


@pytest.mark.deep
def test_outlines_are_records_of_agent_trace_like_any_other(shelved, agent):
    for line in b"".join(agent.get("traces/export", format="agent-trace").streaming_content).splitlines():
        jsonschema.validate(json.loads(line), RECORD)


@pytest.mark.parametrize("form", ["orchestration", "agent-trace"])
def test_exports_hold_every_entry_and_mark_the_archived(shelved, agent, form):
    answer = agent.get("traces/export", format=form)
    lines = [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]
    assert len(lines) == 260
    marked = [line for line in lines if FILE in json.dumps(line)]
    assert len(marked) == sum(
        one.leaf.seq < 256 for one in LedgerEntry.objects.filter(kind="trace").select_related("leaf")
    )
    assert "src/auth/7.ts" in json.dumps(marked)
    assert "only in the body" in json.dumps(lines)
    assert "only in the body" not in json.dumps(marked)


def test_an_export_with_outlines_can_be_read_again(shelved, agent, admin):
    exported = b"".join(agent.get("traces/export").streaming_content)
    answer = admin.post("traces/import", exported.decode(), content_type="application/x-ndjson").json()
    assert (answer["valid"], answer["entries"], answer["duplicates"]) == (True, 0, 260)


def test_an_archived_entry_is_still_proven(shelved, agent):
    proof = agent.get("ledger/proof/inclusion", entry="e-7").json()
    assert (proof["salt"], proof["body"], proof["archived_in"]) == (None, None, FILE)
    assert agent.get("ledger/proof/inclusion", entry="e-259").json()["archived_in"] is None
    answer = agent.get("ledger/verify").json()
    assert (answer["ok"], answer["redacted"]) == (True, 0)
    assert answer["archived"] > 240


def test_the_same_entry_sent_again_is_a_duplicate(shelved, agent):
    answer = agent.post("traces", [trace(7)]).json()
    assert (answer["entries"], answer["duplicates"]) == (0, 1)


def test_a_redaction_names_the_archive_that_still_holds_the_body(shelved, admin):
    answer = admin.post("ledger/entries/e-7/redact", {"reason": "secret"}).json()
    assert answer["archived_in"] == FILE
    assert admin.post("ledger/entries/e-259/redact", {"reason": "secret"}).json()["archived_in"] is None


def test_the_timeline_keeps_its_rows(shelved):
    rows = load_timeline(shelved.pk, "s-1", TimelineWindow(limit=500)).rows
    told = {row.object: row for row in rows if row.kind == "trace"}
    assert told["src/auth/7.ts"].note == f"Archived in {FILE}, entry {place_of('e-7')}."
    assert told["src/auth/259.ts"].note == ""
    held = next(row for row in rows if row.verb == "Write held")
    assert (held.outcome, held.note[:11]) == ("ask", "Archived in")


def test_missing_bodies_cost_two_queries_however_many(shelved):
    with CaptureQueriesContext(connection) as few:
        load_timeline(shelved.pk, "s-1", TimelineWindow(limit=20, after=0))
    with CaptureQueriesContext(connection) as many:
        load_timeline(shelved.pk, "s-1", TimelineWindow(limit=240, after=0))
    assert len(few) == len(many) == 4


def test_pages_and_the_map_show_what_is_known(shelved, ada, agent):
    client = signed_in(ada)
    listed = client.get("/w/acme/traces/?path=src/auth/7.ts").content.decode()
    assert f"Archived in {FILE}, entry {place_of('e-7')}." in listed
    for page in (
        "traces/",
        "traces/map/",
        "traces/map/file/src/auth/7.ts",
        "sessions/s-1",
        "approvals/",
        "",
    ):
        assert client.get(f"/w/acme/{page}").status_code == 200, page
    assert "src/auth/7.ts" in {touch.path for touch in load_touches(shelved.pk)}


def test_a_decision_that_is_archived_says_why_it_cannot_be_decided_again(shelved, ada):
    entry = LedgerEntry.objects.filter(kind="decision", outcome="ask").get()
    found = find_decision(shelved.pk, entry.entry_id)
    assert to_recorded_call(found).unreplayable_reason == f"its content is archived in {FILE}"
    page = signed_in(ada).get(f"/w/acme/explain/?decision={entry.entry_id}")
    assert FILE in page.content.decode()


def test_without_an_archive_a_missing_body_was_taken_out(shelved):
    entry = LedgerEntry.objects.get(entry_id="e-259")
    assert MissingBodies(shelved.pk).explain(entry).text == TAKEN_OUT
