"""Trace entries over REST: posting and listing."""

from __future__ import annotations

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tests import builders
from tests.traces.api.samples import entry, ids, lines, post_lines, text_of
from traces.ledger import checkpoints
from traces.ledger.redaction import redact
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db


def test_entries_are_posted_with_receipts_that_hold(agent):
    answer = agent.post("traces", [entry("a"), entry("b")])
    assert answer.status_code == 201
    found = answer.json()
    assert (found["valid"], found["entries"], found["duplicates"], found["errors"]) == (True, 2, 0, [])
    assert [row["id"] for row in found["results"]] == ["a", "b"]
    first = found["results"][0]
    key = agent.get("ledger").json()["verifier_key"].split("+", 2)[2]
    public = Ed25519PublicKey.from_public_bytes(base64.b64decode(key)[1:])
    log = agent.get("ledger").json()["log"]
    received = LedgerEntry.objects.get(entry_id="a").received_at
    text = checkpoints.format_receipt(
        log, bytes.fromhex(first["leaf_hash"]), checkpoints.format_instant(received)
    )
    public.verify(base64.b64decode(first["receipt"]["signature"]), text.encode())


def test_one_entry_and_lines_are_taken_as_well(agent):
    assert agent.post("traces", entry("a")).status_code == 201
    assert post_lines(agent, lines(entry("b"), entry("c"))).json()["entries"] == 2
    assert post_lines(agent, lines(entry("d")), content_type="application/json").json()["entries"] == 1
    again = agent.post("traces", entry("a"))
    assert (again.status_code, again.json()["duplicates"]) == (200, 1)


def test_the_same_id_with_other_content_is_a_conflict_and_nothing_is_recorded(agent):
    agent.post("traces", entry("a"))
    answer = agent.post("traces", [entry("new"), entry("a", path="src/b.ts")])
    assert answer.status_code == 409
    found = answer.json()
    assert (found["status"], found["error_type"], found["valid"]) == ("error", "DUPLICATE_ID", False)
    assert LedgerEntry.objects.filter(kind="trace").count() == 1


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("{", "INVALID_JSON"),
        ("", "INVALID_JSON"),
        ("7", "NOT_AN_OBJECT"),
        ("{}", "INVALID_FIELD"),
        (lines(entry("a"), 7, entry("b")), "NOT_AN_OBJECT"),
        (lines(entry("a", path="../../etc/passwd")), "INVALID_FIELD"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_recorded(agent, body, kind):
    answer = agent.post("traces", body, content_type="application/json")
    assert (answer.status_code, answer.json()["error_type"]) == (400, kind)
    assert answer.json()["errors"]
    assert not LedgerEntry.objects.filter(kind="trace").exists()


def test_other_content_types_and_too_large_bodies_are_refused(agent, settings):
    assert agent.post("traces", "<x/>", content_type="text/xml").status_code == 415
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10
    assert agent.post("traces", entry("a")).status_code == 413


def test_traces_are_found_by_intent_path_session_and_time(agent):
    agent.post(
        "traces",
        [
            entry("a", "src/a.ts", "INT-001", "2026-02-21T12:00:00Z", "s-1"),
            entry("b", "src/deep/b.ts", "INT-002", "2026-02-22T12:00:00+02:00", "s-2"),
            entry("c", "Src/a.ts", "INT-001", "2026-02-23T12:00:00Z", "s-1"),
        ],
    )
    assert ids(agent.get("traces")) == ["c", "b", "a"]
    assert ids(agent.get("traces", intent="INT-002")) == ["b"]
    assert ids(agent.get("traces?path=src/a.ts")) == ["a"]
    assert ids(agent.get("traces?path=src/")) == ["b", "a"]
    assert ids(agent.get("traces?path=src&intent=INT-001")) == ["a"]
    assert ids(agent.get("traces", session="s-1")) == ["c", "a"]
    assert ids(agent.get("traces", since="2026-02-22T10:00:00Z")) == ["c", "b"]
    assert ids(agent.get("traces", until="2026-02-22T10:00:00Z")) == ["a"]
    assert agent.get("traces", since="yesterday").status_code == 400
    page = agent.get("traces", limit=2)
    assert ids(page) == ["c", "b"]
    assert ids(agent.get("traces", limit=2, cursor=page.json()["next"])) == ["a"]


def test_a_trace_is_shown_as_it_was_sent_with_its_place_beside_it(agent):
    agent.post("traces", entry("a"))
    row = agent.get("traces").json()["results"][0]
    place = row.pop("ledger")
    assert row == entry("a")
    assert (place["status"], place["seq"], place["redacted"]) == ("pending", None, False)
    agent.get("ledger")
    assert agent.get("traces").json()["results"][0]["ledger"]["status"] == "sealed"


def test_a_redacted_trace_shows_only_its_id(agent):
    agent.post("traces", entry("a"))
    redact(LedgerEntry.objects.get(entry_id="a"), reason="secret", actor="Ada")
    row = agent.get("traces").json()["results"][0]
    assert set(row) == {"id", "ledger"}
    assert row["ledger"]["redacted"] is True
    assert text_of(agent.get("traces/export")) == ""
    assert agent.get("ledger/verify").json()["ok"] is True


def test_nothing_crosses_workspaces(agent):
    agent.post("traces", entry("a"))
    agent.get("ledger")
    stranger = builders.speaker(builders.workspace("elsewhere"))
    assert stranger.get("traces").json()["results"] == []
    assert stranger.get("ledger").json()["size"] == 0
    assert stranger.get("ledger/proof/inclusion", entry="a").status_code == 404
    assert text_of(stranger.get("traces/export")) == ""
    assert stranger.post("traces", entry("a", path="other")).status_code == 201


def test_a_refused_path_is_said_in_one_sentence_after_another(agent):
    for path in ("", "../secret"):
        assert not agent.get(f"files/blame?path={path}").json()["error"].endswith("..")
