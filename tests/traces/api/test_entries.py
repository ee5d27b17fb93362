"""The ledger over REST: posting, importing, exporting, proofs."""

from __future__ import annotations

import base64
import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tests import builders
from traces.ledger import checkpoints, merkle
from traces.ledger.redaction import redact
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db


def entry(
    entry_id="e-1", path="src/a.ts", intent="INT-001", timestamp="2026-02-21T12:00:00Z", session="s-1", **more
):
    talk = {
        "url": session,
        "contributor": {"entity_type": "AI", "model_identifier": "model-x"},
        "ranges": [{"start_line": 1, "end_line": 2, "content_hash": "sha256:aa"}],
        "related": [{"type": "specification", "value": intent}],
    }
    files = [{"relative_path": path, "conversations": [talk]}]
    return {"id": entry_id, "timestamp": timestamp, "vcs": {"revision_id": "abc"}, "files": files, **more}


def lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values)


def post_lines(speaker, text, path="traces", content_type="application/x-ndjson"):
    return speaker.post(path, text, content_type=content_type)


def text_of(response):
    return b"".join(response.streaming_content).decode()


def ids(answer):
    return [row["id"] for row in answer.json()["results"]]


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


def test_the_head_and_its_checkpoint(agent):
    empty = agent.get("ledger").json()
    assert (empty["size"], empty["checkpoint"], empty["root"]) == (0, None, merkle.EMPTY_ROOT.hex())
    assert agent.get("ledger/checkpoint").status_code == 404
    agent.post("traces", entry("a"))
    head = agent.get("ledger").json()
    assert (head["size"], head["waiting"]) == (1, 0)
    text = agent.get("ledger/checkpoint").content.decode()
    note = checkpoints.parse_checkpoint(text)
    assert (note.size, note.root.hex(), text) == (1, head["root"], head["checkpoint"])


def test_an_inclusion_proof_holds_for_whoever_checks_it(agent):
    agent.post("traces", [entry(f"e-{n}") for n in range(7)])
    proof = agent.get("ledger/proof/inclusion", entry="e-3").json()
    leaf = bytes.fromhex(proof["leaf_hash"])
    hashes = [bytes.fromhex(one) for one in proof["hashes"]]
    assert merkle.leaf_hash(proof["envelope"].encode()) == leaf
    assert merkle.verify_inclusion(leaf, proof["seq"], proof["size"], hashes, bytes.fromhex(proof["root"]))
    assert checkpoints.parse_checkpoint(proof["checkpoint"]).root.hex() == proof["root"]
    assert agent.get("ledger/proof/inclusion", entry="#3").json()["entry_id"] == proof["entry_id"]
    assert agent.get("ledger/proof/inclusion", entry="e-3", size=5).json()["checkpoint"] is None
    assert agent.get("ledger/proof/inclusion", entry="none").status_code == 404
    assert agent.get("ledger/proof/inclusion", entry="e-3", size=2).status_code == 400
    assert agent.get("ledger/proof/inclusion", entry="e-3", size=8).status_code == 400


def test_only_reviewers_get_the_bodies_of_decisions_with_a_proof(agent, reviewer):
    agent.gate("Read", file_path="a.ts")
    decision = LedgerEntry.objects.get(kind="decision").entry_id
    assert agent.get("ledger/proof/inclusion", entry=decision).json()["body"] is None
    assert "a.ts" in reviewer.get("ledger/proof/inclusion", entry=decision).json()["body"]


def test_a_consistency_proof_holds_for_whoever_checks_it(agent):
    agent.post("traces", [entry(f"e-{n}") for n in range(7)])
    proof = agent.get("ledger/proof/consistency", **{"from": 3}).json()
    hashes = [bytes.fromhex(one) for one in proof["hashes"]]
    roots = (bytes.fromhex(proof["old_root"]), bytes.fromhex(proof["new_root"]))
    assert merkle.verify_consistency(proof["old_size"], proof["new_size"], hashes, *roots)
    assert agent.get("ledger/proof/consistency").status_code == 400
    assert agent.get("ledger/proof/consistency", **{"from": 8}).status_code == 400
    assert agent.get("ledger/proof/consistency", **{"from": 4, "to": 2}).status_code == 400


def test_verification_over_rest(agent):
    agent.post("traces", entry("a"))
    found = agent.get("ledger/verify").json()
    assert (found["ok"], found["checked"], found["problems"]) == (True, 1, [])


def test_the_intent_map_in_the_exact_form(agent, acme):
    builders.intent(acme, "INT-001", name="Build Weather API")
    agent.post(
        "traces",
        [
            entry("a", "src/routes.ts", mutation_class="INTENT_EVOLUTION"),
            entry("b", "src/api.ts", mutation_class="INTENT_EVOLUTION"),
            entry("c", "src/api.ts", mutation_class="INTENT_EVOLUTION"),
            entry("d", "src/x.ts", mutation_class="AST_REFACTOR"),
            entry("e", "src/y.ts", "INT-WEATHER", mutation_class="INTENT_EVOLUTION"),
        ],
    )
    answer = agent.get("intent-map", format="markdown")
    assert answer.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert answer.content.decode() == (
        "# Intent Map\n\nMaps business intents to files. Updated when INTENT_EVOLUTION occurs.\n"
        "\n## INT-001: Build Weather API\n\n- `src/api.ts`\n- `src/routes.ts`\n"
        "\n## INT-WEATHER\n\n- `src/y.ts`\n"
    )
    assert agent.get("intent-map").content == answer.content
    assert agent.get("intent-map", format="json").json() == {
        "intents": [
            {"intent_id": "INT-001", "name": "Build Weather API", "files": ["src/api.ts", "src/routes.ts"]},
            {"intent_id": "INT-WEATHER", "name": "", "files": ["src/y.ts"]},
        ]
    }
    assert agent.get("intent-map", format="yaml").status_code == 400


def test_nothing_crosses_workspaces(agent):
    agent.post("traces", entry("a"))
    agent.get("ledger")
    stranger = builders.speaker(builders.workspace("elsewhere"))
    assert stranger.get("traces").json()["results"] == []
    assert stranger.get("ledger").json()["size"] == 0
    assert stranger.get("ledger/proof/inclusion", entry="a").status_code == 404
    assert text_of(stranger.get("traces/export")) == ""
    assert stranger.post("traces", entry("a", path="other")).status_code == 201


def test_a_proof_of_nothing_named_asks_for_a_name(agent):
    answer = agent.get("ledger/proof/inclusion")
    assert (answer.status_code, answer.json()["error_type"]) == (400, "INVALID_INPUT")
    assert answer.json()["error"].startswith("entry is missing")


def test_a_refused_path_is_said_in_one_sentence_after_another(agent):
    for path in ("", "../secret"):
        assert not agent.get(f"files/blame?path={path}").json()["error"].endswith("..")
