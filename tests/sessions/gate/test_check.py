"""The gate over REST: the answer's fields, the order of steps, idempotency, enforcement, fail safe."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from controlplane.models import Workspace
from controlplane.shared.tokens import revoke_token
from sessions.gate import decide, record, snapshot_cache
from sessions.models import AgentSession, Approval
from tests import builders
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db

IN_SCOPE = {"file_path": "src/auth/login.ts", "content": "export {}\n"}
OUT_OF_SCOPE = {"file_path": "docs/design.md", "content": "# no\n"}
FIELDS = {
    "decision", "decision_id", "session_id", "state", "status", "message", "error", "error_type", "reason",
    "recoverable", "action_hint", "classification", "targets", "intent_id", "effects", "approval", "override", "containment", "context",
    "would_be",
}  # fmt: skip


def policy(workspace, **keys):
    rows = Workspace.objects.filter(pk=workspace.pk)
    rows.update(policy=rows.get().policy | keys, revision=F("revision") + 1)


def decisions():
    return LedgerEntry.objects.filter(kind="decision")


def test_an_empty_registry_denies_everything_and_says_how_to_create_an_intent(agent):
    answer = agent.gate("Read", file_path="README.md")
    assert (answer["decision"], answer["error_type"], answer["reason"]) == (
        "deny", "ORCHESTRATION_UNAVAILABLE", "empty",
    )  # fmt: skip
    assert answer["action_hint"] == "create_intent"
    assert "intent" in answer["error"].lower()


def test_a_read_is_allowed_before_the_handshake_and_begins_the_reasoning(acme, agent):
    builders.intent(acme)
    answer = agent.gate("Read", file_path="README.md")
    assert set(answer) == FIELDS
    assert (answer["decision"], answer["status"], answer["state"]) == ("allow", "ok", "REASONING")
    assert answer["classification"] == "safe"
    assert answer["error"] is answer["error_type"] is answer["approval"] is None
    assert AgentSession.objects.get().state == "REASONING"


def test_a_write_without_an_intent_cites_the_rule_and_lists_the_intents(acme, agent):
    builders.intent(acme)
    policy(acme, approvable=[])
    answer = agent.gate("Write", **IN_SCOPE)
    assert answer["decision"] == "deny"
    assert answer["error"].startswith("You must cite a valid active Intent ID.")
    assert "INT-001" in answer["error"]
    assert (answer["error_type"], answer["reason"]) == ("MISSING_OR_INVALID_INTENT", "none_selected")
    assert answer["message"] == "The tool execution failed"
    assert answer["action_hint"] == "select_active_intent"


def test_a_write_in_scope_is_allowed_and_recorded(at_work):
    answer = at_work.gate("Write", **IN_SCOPE)
    assert (answer["decision"], answer["targets"], answer["intent_id"]) == (
        "allow", ["src/auth/login.ts"], "INT-001",
    )  # fmt: skip
    assert answer["state"] == "ACTION"
    assert decisions().get(entry_id=answer["decision_id"]).outcome == "allow"


def test_a_write_out_of_scope_asks_and_says_exactly_why(at_work):
    answer = at_work.gate("Write", **OUT_OF_SCOPE)
    assert answer["decision"] == "ask"
    assert answer["error"].startswith(
        "Scope Violation: INT-001 is not authorized to edit [docs/design.md]. Request scope expansion."
        " INT-001 may edit [src/auth/**]."
    )
    assert (answer["error_type"], answer["reason"]) == ("SCOPE_VIOLATION", "not_in_scope")
    assert answer["approval"]["status"] == "PENDING"
    assert set(answer["approval"]) == {"id", "status", "url", "expires_at"}


def test_a_write_of_anothers_file_names_the_owner(acme, at_work):
    builders.intent(acme, "INT-002", owned_scope=["docs/**"])
    error = at_work.gate("Write", **OUT_OF_SCOPE)["error"]
    assert error.endswith(
        "INT-001 may edit [src/auth/**]. Owned by INT-002: work on it belongs there, in a session of its own."
    )


def test_identical_asks_are_one_approval_and_other_input_is_another(at_work):
    first = at_work.gate("Write", **OUT_OF_SCOPE)["approval"]["id"]
    assert at_work.gate("Write", **OUT_OF_SCOPE)["approval"]["id"] == first
    assert at_work.gate("Write", **OUT_OF_SCOPE | {"content": "else"})["approval"]["id"] != first
    assert Approval.objects.count() == 2


def test_the_same_tool_use_id_with_the_same_input_is_the_same_call(at_work):
    first = at_work.gate("Write", tool_use_id="t-1", **IN_SCOPE)
    again = at_work.gate("Write", tool_use_id="t-1", **IN_SCOPE)
    other = at_work.gate("Write", tool_use_id="t-1", **IN_SCOPE | {"content": "other"})
    assert first["decision_id"] == again["decision_id"] != other["decision_id"]
    assert decisions().filter(tool="Write").count() == 2


def test_the_same_call_is_judged_anew_when_the_policy_has_changed(acme, at_work):
    first = at_work.gate("Write", tool_use_id="t-1", **OUT_OF_SCOPE)
    policy(acme, approvable=[])
    again = at_work.gate("Write", tool_use_id="t-1", **OUT_OF_SCOPE)
    assert (first["decision"], again["decision"]) == ("ask", "deny")
    assert first["decision_id"] != again["decision_id"]


def test_the_handshake_through_the_gate_carries_the_context(acme, agent):
    builders.intent(acme)
    answer = agent.gate("select_active_intent", intent_id="INT-001")
    assert (answer["decision"], answer["classification"], answer["state"]) == ("allow", "handshake", "ACTION")
    assert '<intent_context intent_id="INT-001">' in answer["context"]
    assert agent.gate("Write", **IN_SCOPE)["decision"] == "allow"
    locked = agent.gate("select_active_intent", intent_id="INT-001")
    assert (locked["decision"], locked["error_type"]) == ("deny", "INTENT_LOCKED")
    assert "<intent_context" in locked["context"]


def test_monitoring_decides_and_records_but_answers_allow(acme, at_work):
    policy(acme, enforcement="monitor")
    answer = at_work.gate("Write", **OUT_OF_SCOPE)
    assert (answer["decision"], answer["would_be"], answer["error"]) == ("allow", "ask", None)
    assert decisions().get(entry_id=answer["decision_id"]).outcome == "ask"
    assert not Approval.objects.exists()


def test_with_enforcement_off_everything_is_allowed(acme, at_work):
    policy(acme, enforcement="off")
    assert at_work.gate("Write", **OUT_OF_SCOPE)["decision"] == "allow"


def test_a_session_that_a_person_ended_may_read_but_not_write(acme, at_work):
    builders.speaker(acme, "reviewer").post("sessions/s-1/end")
    assert at_work.gate("Read", file_path="README.md")["decision"] == "allow"
    answer = at_work.gate("Write", **IN_SCOPE)
    assert (answer["decision"], answer["error_type"], answer["reason"]) == ("deny", "SESSION_ENDED", "ended")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ([], "object"),
        ({"tool": "Read", "input": {}}, "session_id"),
        ({"session_id": "s", "input": {}}, "tool"),
        ({"session_id": "s", "tool": "Read"}, "input"),
        ({"session_id": 5, "tool": "Read", "input": {}}, "session_id"),
        ({"session_id": "s", "tool": "Read", "input": {}, "wait_seconds": 56}, "wait_seconds"),
        ({"session_id": "s", "tool": "Read", "input": {}, "dry_run": "yes"}, "dry_run"),
        (
            {"session_id": "s", "tool": "Read", "input": {}, "current_content_hashes": {"a": "md5:1"}},
            "sha256",
        ),
        ({"session_id": "s", "tool": "Read", "input": {}, "surprise": 1}, "surprise"),
    ],
)
def test_a_malformed_request_is_a_denial_in_the_same_envelope(agent, body, words):
    answer = agent.post("gate", body)
    assert answer.status_code == 400
    assert set(answer.json()) >= FIELDS
    assert answer.json()["decision"] == "deny"
    assert words in answer.json()["error"]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b'{"a": NaN}',
        b'{"a": 1, "a": 2}',
        b"\xff",
        b'"\\ud800"',
        b'{"a":"\\u0000"}',
        b"[" * 2000,
        b'{"a": -1e999}',
    ],
)
def test_broken_json_is_a_denial(agent, raw):
    answer = agent.client.post(
        "/api/v1/gate",
        raw,
        content_type="application/json",
        headers={"Authorization": f"Bearer {agent.secret}"},
    )
    assert answer.status_code == 400
    assert answer.json()["decision"] == "deny"


def test_an_input_over_a_mebibyte_is_refused(at_work):
    answer = at_work.post(
        "gate",
        {"session_id": "s-1", "tool": "Write", "input": IN_SCOPE | {"content": "x" * (1024 * 1024 + 1)}},
    )
    assert (answer.status_code, answer.json()["decision"]) == (400, "deny")


def test_without_a_token_the_answer_is_401_and_deny(acme, client):
    answer = client.post("/api/v1/gate", {"session_id": "s", "tool": "Read", "input": {}}, "application/json")
    assert (answer.status_code, answer.json()["decision"]) == (401, "deny")


def test_another_agents_session_is_403_and_deny(acme, at_work):
    other = builders.speaker(acme)
    answer = other.post("gate", {"session_id": "s-1", "tool": "Read", "input": {"file_path": "a"}})
    assert (answer.status_code, answer.json()["decision"]) == (403, "deny")


def test_a_revoked_token_is_refused_at_the_next_call_although_the_gate_remembers_it(at_work):
    assert at_work.gate("Write", **IN_SCOPE)["decision"] == "allow"
    # as another process would: without telling this one's memory
    type(at_work.token).objects.filter(pk=at_work.token.pk).update(revoked_at=at_work.token.created_at)
    answer = at_work.post("gate", {"session_id": "s-1", "tool": "Write", "input": IN_SCOPE})
    assert (answer.status_code, answer.json()["decision"]) == (401, "deny")
    assert decisions().filter(tool="Write").count() == 1


@pytest.mark.parametrize("step", ["prepare", "append_prepared"])
def test_a_failure_inside_the_gate_is_a_denial(at_work, monkeypatch, step):
    monkeypatch.setattr(record, step, lambda *_, **__: 1 / 0)
    answer = at_work.post("gate", {"session_id": "s-1", "tool": "Write", "input": IN_SCOPE})
    assert answer.status_code == 500
    assert (answer.json()["decision"], answer.json()["reason"]) == ("deny", "internal_error")


def test_secrets_are_masked_before_anything_is_stored(at_work):
    secret = "ghp_" + "a1B2" * 10
    answer = at_work.gate("Write", **OUT_OF_SCOPE | {"content": f"token = '{secret}'"})
    entry = decisions().select_related("body").get(entry_id=answer["decision_id"])
    assert secret.encode() not in bytes(entry.body.body)
    assert secret not in str(Approval.objects.get().call)


def test_an_allowed_call_of_a_known_session_takes_at_most_three_statements(
    at_work,
):
    at_work.gate("Write", **IN_SCOPE)
    with CaptureQueriesContext(connection) as captured:
        at_work.gate("Write", **IN_SCOPE | {"content": "again"})
    statements = [query["sql"] for query in captured if "SAVEPOINT" not in query["sql"]]
    assert len(statements) <= 3
    assert "traces_ledgerentry" in statements[0]


def test_no_decision_is_recorded_against_a_policy_that_has_changed(acme, at_work, monkeypatch):
    """The policy changes after the gate has decided and before it appends."""
    at_work.gate("Write", **IN_SCOPE)
    real, changed = decide.decide, []

    def decide_then_change(*arguments):
        decision = real(*arguments)
        if not changed:
            changed.append(True)
            policy(acme, approvable=[])
            Workspace.objects.update(intentignore="src/auth/\n")
        return decision

    monkeypatch.setattr(decide, "decide", decide_then_change)
    answer = at_work.gate("Write", **IN_SCOPE | {"content": "later"})
    assert (answer["decision"], answer["error_type"]) == ("deny", "INTENTIGNORE_PATH_BLOCKED")


def test_an_intent_that_was_narrowed_binds_the_next_call(acme, admin, at_work):
    assert at_work.gate("Write", **IN_SCOPE)["decision"] == "allow"
    current = admin.get("intents/INT-001").json()
    patched = admin.patch(
        "intents/INT-001", {"owned_scope": ["src/billing/**"], "version": current["version"]}
    )
    assert patched.status_code == 200, patched.content
    assert at_work.gate("Write", **IN_SCOPE)["decision"] == "ask"


def test_a_revoked_token_is_forgotten_by_this_process(at_work):
    revoke_token(at_work.token)
    assert at_work.post("gate", {"session_id": "s-1", "tool": "Read", "input": {}}).status_code == 401


@pytest.mark.django_db(transaction=True)
def test_many_calls_at_once_are_all_recorded(acme, at_work):
    def call(number):
        try:
            return at_work.gate("Write", tool_use_id=f"t-{number}", **IN_SCOPE)["decision_id"]
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        ids = list(pool.map(call, range(40)))
    assert len(set(ids)) == 40
    assert decisions().filter(entry_id__in=ids).count() == 40


def test_snapshots_are_remembered_per_session(acme, at_work):
    at_work.gate("Write", **IN_SCOPE)
    assert (acme.pk, "s-1") in snapshot_cache._snapshots


def test_a_number_that_no_ledger_can_keep_is_no_reason_to_fail(at_work):
    """Some services count their ids beyond 2^53."""
    answer = at_work.gate("mcp__chat__post", channel=2**60, text="hello")
    assert (answer["decision"], answer["reason"]) == ("ask", "unknown_target")
    assert at_work.gate("Read", file_path="src/auth/login.ts", offset=2**60)["decision"] == "allow"


def test_a_link_of_the_agents_machine_is_followed(at_work):
    body = {"session_id": "s-1", "tool": "Write", "input": {"file_path": "src/auth/in/x", "content": "x"}}
    assert at_work.post("gate", {**body, "links": {"src/auth/in": "docs"}}).json()["reason"] == "not_in_scope"
    assert at_work.post("gate", {**body, "links": None}).json()["decision"] == "allow"


WRONG_LINKS = {
    "list": [],
    "number": {"a": 1},
    "long": {"a": "x" * 5000},
    "many": dict.fromkeys(map(str, range(1001)), "x"),
    "text": "x",
}


@pytest.mark.parametrize("links", WRONG_LINKS.values(), ids=WRONG_LINKS)
def test_links_that_are_none_are_a_denial(at_work, links):
    body = {"session_id": "s-1", "tool": "Write", "input": {"file_path": "src/auth/in/x", "content": "x"}}
    answer = at_work.post("gate", {**body, "links": links})
    assert (answer.status_code, answer.json()["decision"]) == (400, "deny")
