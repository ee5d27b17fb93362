"""Criteria with evidence: what an agent may claim, what it must not, and who confirms it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from controlplane.models import Workspace
from intents.models import Intent
from sessions.lifecycle.claims import build_claims
from sessions.models import Approval
from tests import builders
from traces.ledger.append import read_body
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db

PATH = "src/auth/a.ts"
NOTES = "Ran the suite"
NOTE = {"type": "note", "text": "Read through it"}
TEST = {"type": "command", "command": "git status", "exit_status": 0}
CONTAINMENT = {"overlay": True, "landlock": 7}
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


def complete(agent, *evidence, criterion="It works", session="s-1", **more):
    claims = [{"criterion": criterion, "evidence": list(evidence)}] if evidence else None
    body = {"verification_notes": NOTES} | ({"acceptance_evidence": claims} if claims else {}) | more
    return agent.post(f"sessions/{session}/complete-intent", body)


def claimed(agent, *evidence, **more):
    """What the registry keeps of a claim."""
    answer = complete(agent, *evidence, **more)
    assert answer.status_code == 200, answer.json()
    return Intent.objects.get(intent_id="INT-001").acceptance_evidence


def refusal(agent, *evidence, **more):
    answer = complete(agent, *evidence, **more)
    assert (answer.status_code, answer.json()["error_type"]) == (400, "INVALID_INPUT"), answer.json()
    assert Intent.objects.get(workspace__slug="acme", intent_id="INT-001").acceptance_evidence == []
    assert not Approval.objects.filter(kind=Approval.Kind.COMPLETION).exists()
    return answer.json()["error"]


def wrote(agent, path=PATH, session="s-1"):
    answer = agent.post(f"sessions/{session}/traces", {"path": path, "content": "x\n"})
    assert answer.status_code == 201, answer.json()
    return answer.json()["id"]


def ran(agent, command="git status", **more):
    answer = agent.gate("Bash", command=command, **more)
    assert answer["decision"] == "allow", answer
    return answer["decision_id"]


def trust_agents(workspace):
    Workspace.objects.filter(pk=workspace.pk).update(
        revision=F("revision") + 1, policy={"completion": "agent"}
    )


# --- what is claimed ------------------------------------------------------------------------------


def test_a_claim_names_changes_commands_and_notes(at_work):
    trace, decision = wrote(at_work), ran(at_work)
    (record,) = claimed(at_work, {"type": "trace", "id": trace}, TEST, NOTE)
    assert (record["criterion"], record["status"], record["session_id"]) == ("It works", "claimed", "s-1")
    assert (record["claimed_by"], record["claimed_at"][-1]) == ("claude-code", "Z")
    assert record["evidence"] == [
        {"type": "trace", "id": trace, "path": PATH},
        {"type": "command", "id": decision, "command": "git status", "exit_status": 0},
        NOTE,
    ]


def test_a_change_is_found_by_its_file_however_that_is_spelled(at_work):
    at_work.post("sessions", {"session_id": "s-1", "root": "/srv/shop"})
    wrote(at_work)
    newest = wrote(at_work)
    for path in (PATH, f"./{PATH}", f"/srv/shop/{PATH}"):
        (record,) = claimed(at_work, {"type": "trace", "path": path})
        assert record["evidence"] == [{"type": "trace", "id": newest, "path": PATH}]


def test_a_command_is_found_by_its_text_or_by_the_id_of_its_decision(at_work):
    ran(at_work)
    newest = ran(at_work)
    at_work.gate("Read", file_path=PATH)
    (by_text,) = claimed(at_work, TEST)
    (by_id,) = claimed(at_work, {"type": "command", "id": newest, "exit_status": 1})
    assert [record["evidence"][0]["id"] for record in (by_text, by_id)] == [newest, newest]
    assert [record["evidence"][0]["exit_status"] for record in (by_text, by_id)] == [0, 1]


def test_one_of_the_commands_of_a_call_is_found(acme, agent):
    builders.intent(acme)
    agent.post("sessions", {"session_id": "s-1", "agent": {"name": "cline"}})
    agent.select("INT-001")
    called = agent.gate("run_commands", commands=["git log", "git status"])
    assert called["decision"] == "allow", called
    (record,) = claimed(agent, TEST)
    assert record["evidence"] == [{"type": "command", "id": called["decision_id"], **TEST}]
    (record,) = claimed(agent, {"type": "command", "id": called["decision_id"], "exit_status": 0})
    assert record["evidence"][0]["command"] == "git log\ngit status"


def test_a_line_of_a_script_is_no_command_that_ran(at_work):
    ran(at_work, "cat <<'EOF'\ngit status\nEOF")
    assert "no run of 'git status' is recorded" in refusal(at_work, TEST)


def test_the_exit_status_of_a_contained_run_is_the_one_it_has_reported(at_work):
    answer = at_work.gate("Bash", command="npm test", containment=CONTAINMENT)
    run_id, named = answer["containment"]["run_id"], {"type": "command", "command": "npm test"}
    assert "has not reported how it ended" in refusal(at_work, named | {"exit_status": 0})
    body = {"exit_code": 3, "duration_ms": 1, "files": []}
    assert at_work.post(f"runs/{run_id}/effects", body).status_code == 200
    assert "ended with exit status 3, not 0" in refusal(at_work, named | {"exit_status": 0})
    evidence = {"type": "command", "id": answer["decision_id"], "run_id": run_id, "command": "npm test"}
    for piece in (named, {"type": "command", "run_id": run_id}, named | {"exit_status": 3}):
        (record,) = claimed(at_work, piece)
        assert record["evidence"] == [evidence | {"exit_status": 3}]


def test_evidence_of_another_session_on_the_same_intent_counts(acme, at_work):
    trace = wrote(at_work)
    at_work.post("sessions/s-1/end")
    other = builders.speaker(acme)
    assert other.select("INT-001", "s-2")["success"]
    (record,) = claimed(other, {"type": "trace", "id": trace}, session="s-2")
    assert (record["session_id"], record["evidence"][0]["id"]) == ("s-2", trace)


def test_many_commands_cost_one_look_through_the_ledger(at_work):
    commands = [f"git log -{number}" for number in range(1, 20)]
    for command in commands:
        ran(at_work, command)
    pieces = [{"type": "command", "command": command, "exit_status": 0} for command in commands]
    counts = []
    for some in (pieces[:1], pieces):
        with CaptureQueriesContext(connection) as queries:
            assert complete(at_work, *some).status_code == 200
        counts.append(len(queries))
    # The first completion changed the workspace, so the second one reads its stops again.
    assert counts[1] - counts[0] <= 2 * (len(pieces) - 1) + 1, "the decision and its run, for each"


def test_a_criterion_is_named_by_its_words_or_its_number(acme, at_work):
    Intent.objects.update(acceptance_criteria=["It works", "2"])
    for criterion, words in ((1, "It works"), ("It works", "It works"), (2, "2"), ("2", "2")):
        records = claimed(at_work, NOTE, criterion=criterion)
        assert words in [record["criterion"] for record in records]


def test_secrets_are_masked_in_notes_evidence_and_commands(at_work):
    ran(at_work, f"git log --grep {SECRET}")
    command = {"type": "command", "command": f"git log --grep {SECRET}", "exit_status": 0}
    answer = complete(
        at_work, {"type": "note", "text": f"token {SECRET}"}, command, verification_notes=f"used {SECRET}"
    )
    assert answer.status_code == 200, answer.json()
    approval = Approval.objects.get()
    assert SECRET not in f"{Intent.objects.get().acceptance_evidence} {approval.call} {approval.message}"
    bodies = [str(read_body(entry)) for entry in LedgerEntry.objects.filter(kind="intent")]
    assert SECRET not in "".join(bodies)


# --- what is refused ------------------------------------------------------------------------------


def test_evidence_that_is_not_there_is_refused(at_work):
    for piece, words in (
        ({"type": "trace", "id": "no-such"}, "acceptance_evidence.0.evidence.1: there is no trace 'no-such'"),
        ({"type": "trace", "path": "src/auth/b.ts"}, "no change of 'src/auth/b.ts' is recorded for INT-001"),
        ({"type": "command", "id": "no-such", "exit_status": 0}, "there is no decision 'no-such'"),
        ({"type": "command", "run_id": "no-such"}, "there is no contained run 'no-such'"),
        ({"type": "command", "command": "git log", "exit_status": 0}, "no run of 'git log' is recorded"),
    ):
        assert words in refusal(at_work, NOTE, piece)


def test_evidence_of_another_workspace_is_not_there(at_work):
    elsewhere = builders.workspace("elsewhere")
    builders.intent(elsewhere)
    stranger = builders.speaker(elsewhere)
    stranger.select("INT-001")
    trace, decision = wrote(stranger), ran(stranger)
    run = stranger.gate("Bash", command="npm test", containment=CONTAINMENT)["containment"]["run_id"]
    assert "there is no trace" in refusal(at_work, {"type": "trace", "id": trace})
    assert "there is no decision" in refusal(at_work, {"type": "command", "id": decision, "exit_status": 0})
    assert "there is no contained run" in refusal(at_work, {"type": "command", "run_id": run})
    assert "no change of" in refusal(at_work, {"type": "trace", "path": PATH})
    assert "no run of" in refusal(at_work, TEST)


def test_evidence_of_another_intent_proves_nothing_here(acme, at_work):
    builders.intent(acme, "INT-002", owned_scope=["docs/**"])
    other = builders.speaker(acme)
    other.select("INT-002", "s-2")
    trace, decision = (
        wrote(other, "docs/a.md", "s-2"),
        other.gate("Bash", "s-2", command="git status")["decision_id"],
    )
    assert "belongs to no session on INT-001" in refusal(at_work, {"type": "trace", "id": trace})
    named = {"type": "command", "id": decision, "exit_status": 0}
    assert "belongs to no session on INT-001" in refusal(at_work, named)
    assert "no change of" in refusal(at_work, {"type": "trace", "path": "docs/a.md"})


def test_an_entry_that_only_says_it_is_of_the_intent_proves_nothing(acme, at_work, reviewer):
    entry = {
        "id": "forged", "timestamp": "2026-01-01T00:00:00Z", "vcs": {"revision_id": None},
        "files": [{"relative_path": PATH, "conversations": [{
            "url": "s-9", "contributor": {"entity_type": "AI"}, "ranges": [],
            "related": [{"type": "specification", "value": "INT-001"}]}]}],
    }  # fmt: skip
    admin = builders.speaker(acme, "admin")
    assert admin.post("traces", entry).status_code in {200, 201}
    assert LedgerEntry.objects.get(entry_id="forged").intent_id == "INT-001"
    assert "belongs to no session on INT-001" in refusal(at_work, {"type": "trace", "id": "forged"})
    assert "no change of" in refusal(at_work, {"type": "trace", "path": PATH})
    trace = wrote(at_work)
    admin.post("traces", entry | {"id": "forged-again"})
    (record,) = claimed(at_work, {"type": "trace", "path": PATH})
    assert record["evidence"][0]["id"] == trace


def test_only_a_command_that_ran_is_evidence(at_work):
    held = at_work.gate("Bash", command="git push")
    read = at_work.gate("Read", file_path=PATH)
    assert (held["decision"], read["decision"]) == ("ask", "allow")
    by_id = {"type": "command", "id": held["decision_id"], "exit_status": 0}
    assert "was not allowed, so it did not run" in refusal(at_work, by_id)
    by_text = {"type": "command", "command": "git push", "exit_status": 0}
    assert "no run of 'git push' is recorded" in refusal(at_work, by_text)
    assert "is no command of a shell" in refusal(at_work, by_id | {"id": read["decision_id"]})
    ran(at_work)
    assert "say its exit_status" in refusal(at_work, {"type": "command", "command": "git status"})


@pytest.mark.parametrize(
    "claims",
    [
        "done",
        [{"criterion": "It works"}],
        [{"criterion": "It works", "evidence": []}],
        [{"criterion": "It works", "evidence": [NOTE], "status": "met"}],
        [{"criterion": True, "evidence": [NOTE]}],
        [{"criterion": 0, "evidence": [NOTE]}],
        [{"criterion": 2, "evidence": [NOTE]}],
        [{"criterion": "It flies", "evidence": [NOTE]}],
        [{"criterion": 1, "evidence": [NOTE]}, {"criterion": "It works", "evidence": [NOTE]}],
        [{"criterion": 1, "evidence": [{"type": "note"}]}],
        [{"criterion": 1, "evidence": [{"type": "note", "text": " \n"}]}],
        [{"criterion": 1, "evidence": [{"type": "note", "text": "x" * 2_001}]}],
        [{"criterion": 1, "evidence": [{"type": "note", "text": "x", "exit_status": 0}]}],
        [{"criterion": 1, "evidence": [{"type": "rumour", "text": "x"}]}],
        [{"criterion": 1, "evidence": [{"type": "trace", "id": "a", "path": "b"}]}],
        [{"criterion": 1, "evidence": [TEST | {"exit_status": "0"}]}],
        [{"criterion": 1, "evidence": [NOTE] * 21}],
    ],
    ids=range(17),
)
def test_a_claim_of_another_form_is_refused_whole(at_work, claims):
    ran(at_work)
    answer = at_work.post(
        "sessions/s-1/complete-intent", {"verification_notes": NOTES, "acceptance_evidence": claims}
    )
    assert (answer.status_code, answer.json()["error_type"]) == (400, "INVALID_INPUT")
    assert answer.json()["error"].startswith("acceptance_evidence")
    assert Intent.objects.get().acceptance_evidence == []


def test_a_refused_criterion_is_answered_with_those_there_are(at_work):
    assert "is none of INT-001: 1. It works" in refusal(at_work, NOTE, criterion="It flies")


def test_a_stranger_claims_nothing(acme, at_work):
    stranger = builders.speaker(builders.workspace("elsewhere"))
    assert complete(stranger, NOTE).status_code == 404
    assert complete(builders.speaker(acme), NOTE).status_code == 403
    assert Intent.objects.get().acceptance_evidence == []


# --- who confirms it ------------------------------------------------------------------------------


def test_a_person_confirms_by_approving_the_completion(at_work, reviewer):
    answer = complete(at_work, NOTE).json()
    assert set(answer) == {"completed", "approval"}
    assert answer["approval"]["acceptance_evidence"] == Intent.objects.get().acceptance_evidence
    decided = reviewer.post(f"approvals/{answer['approval']['id']}/decide", {"action": "approve"})
    assert decided.status_code == 200, decided.json()
    intent = reviewer.get("intents/INT-001").json()
    (record,) = intent["acceptance_evidence"]
    assert (intent["status"], record["status"]) == ("COMPLETED", "met")
    assert (record["confirmed_by"], record["evidence"]) == ("reviewer token", [NOTE])
    (exported,) = yaml.safe_load(reviewer.get("intents/export").content)["active_intents"]
    assert exported["acceptance_evidence"] == [record]


def test_a_rejection_confirms_nothing(at_work, reviewer):
    approval = complete(at_work, NOTE).json()["approval"]["id"]
    assert reviewer.post(f"approvals/{approval}/decide", {"action": "reject"}).status_code == 200
    (record,) = Intent.objects.get().acceptance_evidence
    assert record["status"] == "claimed"


def test_policy_confirms_where_it_trusts_agents(acme, at_work):
    trust_agents(acme)
    assert complete(at_work, NOTE).json() == {"completed": True, "approval": None}
    (record,) = Intent.objects.get().acceptance_evidence
    assert (record["status"], record["confirmed_by"]) == ("met", "policy")


def test_without_evidence_a_completion_leaves_the_criteria_open(acme, at_work):
    trust_agents(acme)
    assert complete(at_work).json() == {"completed": True, "approval": None}
    assert (Intent.objects.get().status, Intent.objects.get().acceptance_evidence) == ("COMPLETED", [])


def test_claim_and_confirmation_are_in_the_ledger(at_work, reviewer):
    approval = complete(at_work, NOTE).json()["approval"]["id"]
    reviewer.post(f"approvals/{approval}/decide", {"action": "approve"})
    entries = [read_body(entry) for entry in LedgerEntry.objects.filter(kind="intent").order_by("pk")]
    claim, confirmation = entries[-2:]
    assert claim["reason"] == "evidence for 1 of 1 criteria"
    assert [entry["document"]["acceptance_evidence"][0]["status"] for entry in entries[-2:]] == [
        "claimed",
        "met",
    ]
    assert confirmation["document"]["status"] == "COMPLETED"


def test_the_same_claim_twice_is_one_revision_and_one_approval(at_work):
    first, again = (complete(at_work, NOTE).json()["approval"]["id"] for _ in range(2))
    version = Intent.objects.get().version
    assert first == again
    complete(at_work, {"type": "note", "text": "Something else"})
    assert Intent.objects.get().version == version + 1
    assert Approval.objects.count() == 2


def test_an_older_card_confirms_what_it_shows(at_work, reviewer):
    older = complete(at_work, NOTE).json()["approval"]["id"]
    complete(at_work, {"type": "note", "text": "Never looked at"})
    assert reviewer.post(f"approvals/{older}/decide", {"action": "approve"}).status_code == 200
    (record,) = Intent.objects.get().acceptance_evidence
    assert (record["status"], record["evidence"]) == ("met", [NOTE])


def test_nothing_is_claimed_for_an_intent_that_somebody_closes_meanwhile(at_work, monkeypatch):
    def build_and_close(session, intent, sent):
        claims = build_claims(session, intent, sent)
        Intent.objects.update(status="ABANDONED")
        return claims

    monkeypatch.setattr("sessions.lifecycle.complete.build_claims", build_and_close)
    answer = complete(at_work, NOTE)
    assert (answer.status_code, answer.json()["error_type"]) == (409, "MISSING_OR_INVALID_INTENT")
    assert Intent.objects.get().acceptance_evidence == []
    assert not Approval.objects.exists()


def test_the_next_session_is_told_what_is_claimed(acme, at_work):
    complete(at_work, NOTE)
    at_work.post("sessions/s-1/end")
    answer = builders.speaker(acme).select("INT-001", "s-2")
    assert '<criterion status="claimed">It works</criterion>' in answer["context"]
    assert answer["intent"]["acceptance_evidence"][0]["evidence"] == [NOTE]


def test_the_example_of_the_documentation_holds(at_work):
    page = (Path(__file__).parents[3] / "docs" / "criteria.md").read_text()
    body = json.loads(re.search(r"```json\n(.*?)```", page, re.DOTALL)[1])
    Intent.objects.update(acceptance_criteria=["All tests pass", "It signs out"])
    run = at_work.gate("Bash", command="npm test", containment=CONTAINMENT)["containment"]["run_id"]
    at_work.post(f"runs/{run}/effects", {"exit_code": 0, "duration_ms": 1, "files": []})
    wrote(at_work, "src/auth/login.ts")
    answer = at_work.post("sessions/s-1/complete-intent", body)
    assert answer.status_code == 200, answer.json()
    kept = Intent.objects.get().acceptance_evidence
    assert [len(record["evidence"]) for record in kept] == [2, 1]
    fields = yaml.safe_load(re.search(r"```yaml\n(.*?)```", page, re.DOTALL)[1])
    assert {*fields["acceptance_evidence"][0]} == {*kept[0], "confirmed_by", "confirmed_at"}


# --- through the gate ------------------------------------------------------------------------------


def test_the_gate_takes_evidence_like_rest(at_work):
    claims = [{"criterion": 1, "evidence": [NOTE]}]
    answer = at_work.gate("complete_intent", verification_notes=NOTES, acceptance_evidence=claims)
    assert answer["decision"] == "allow"
    assert "[claimed] It works: Read through it" in answer["context"]
    assert Intent.objects.get().acceptance_evidence[0]["evidence"] == [NOTE]


def test_the_gate_denies_a_claim_that_does_not_hold(at_work):
    claims = [{"criterion": 1, "evidence": [{"type": "trace", "path": "src/auth/b.ts"}]}]
    answer = at_work.gate("complete_intent", verification_notes=NOTES, acceptance_evidence=claims)
    assert (answer["decision"], answer["error_type"]) == ("deny", "HOOK_BLOCKED")
    assert "no change of 'src/auth/b.ts'" in answer["error"]
    assert Intent.objects.get().acceptance_evidence == []


def test_the_gate_says_which_criteria_have_no_evidence(at_work):
    answer = at_work.gate("complete_intent", verification_notes=NOTES)
    assert "[open] It works: no evidence" in answer["context"]
