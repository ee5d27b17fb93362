"""An emergency stop: nothing gets through, whoever or whatever would let it, until an admin starts again."""

from __future__ import annotations

import json

import pytest
from django.db.models import F

from controlplane.models import EmergencyStop, Workspace
from controlplane.policy import decision as core
from sessions.models import AgentSession, Approval
from sessions.stops.store import Kind, StopActor, lift, stop
from tests import builders
from tests.sessions.runs.test_report import CONTAINMENT, created
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db
ADA = StopActor("Ada", "user:1:Ada")
IN_SCOPE = {"file_path": "src/auth/login.ts", "content": "export {}\n"}
SUBJECTS = {"workspace": "", "agent": "claude-code", "session": "s-1"}


def halt(workspace, kind="workspace", reason="wrong branch"):
    return stop(Workspace.objects.get(pk=workspace.pk), kind, SUBJECTS[kind], ADA, reason=reason)


def told(answer):
    return answer["decision"], answer["error_type"], answer["reason"]


STOPPED = ("deny", "SESSION_ENDED", "stopped")


@pytest.mark.parametrize("kind", Kind.values)
def test_a_stop_denies_writes_reads_and_the_handshake_and_ends_when_it_is_lifted(acme, at_work, kind):
    assert at_work.gate("Write", **IN_SCOPE)["decision"] == "allow"
    row = halt(acme, kind)
    for tool, call in (
        ("Write", IN_SCOPE), ("Read", {"file_path": "README.md"}), ("Bash", {"command": "git status"}),
        ("list_active_intents", {}), ("select_active_intent", {"intent_id": "INT-001"}),
    ):  # fmt: skip
        answer = at_work.gate(tool, **call)
        assert told(answer) == STOPPED, tool
        assert "Ada stopped" in answer["error"]
        assert "wrong branch" in answer["error"]
        assert (answer["action_hint"], answer["recoverable"], answer["approval"]) == (None, False, None)
    lift(acme, row.public_id, ADA)
    assert at_work.gate("Write", **IN_SCOPE)["decision"] == "allow"


@pytest.mark.parametrize(("kind", "others"), [("agent", "codex"), ("session", "claude-code")])
def test_others_go_on(acme, at_work, kind, others):
    halt(acme, kind)
    answer = at_work.gate("Read", session="s-2", agent={"name": others}, file_path="README.md")
    assert answer["decision"] == "allow"
    assert told(at_work.gate("Read", file_path="README.md")) == STOPPED


@pytest.mark.parametrize("kind", ["workspace", "agent"])
def test_a_new_session_does_not_get_around_it(acme, at_work, kind):
    halt(acme, kind)
    agent = {"name": "claude-code"}
    assert told(at_work.gate("Read", session="s-2", agent=agent, file_path="a")) == STOPPED
    assert at_work.select("INT-001", session="s-3")["reason"] == "stopped"


@pytest.mark.parametrize("enforcement", ["monitor", "off"])
def test_it_holds_whatever_policy_enforces(acme, at_work, enforcement):
    Workspace.objects.filter(pk=acme.pk).update(
        policy={"enforcement": enforcement}, revision=F("revision") + 1
    )
    halt(acme)
    assert told(at_work.gate("Write", **IN_SCOPE)) == STOPPED


def test_it_holds_where_the_gate_itself_fails(acme, at_work, monkeypatch):
    Workspace.objects.filter(pk=acme.pk).update(policy={"enforcement": "monitor"}, revision=F("revision") + 1)
    halt(acme)
    monkeypatch.setattr(core, "evaluate", lambda context: 1 / 0)
    assert told(at_work.gate("Write", **IN_SCOPE)) == STOPPED


def test_neither_a_grant_nor_a_retry_of_an_allowed_call_gets_around_it(acme, at_work, reviewer):
    call = {"file_path": "docs/a.md", "content": "x", "tool_use_id": "t-1"}
    held = at_work.gate("Write", **call)["approval"]["id"]
    assert (
        reviewer.post(f"approvals/{held}/decide", {"action": "approve", "grant": "session"}).status_code
        == 200
    )
    assert at_work.gate("Write", **call)["decision"] == "allow"
    row = halt(acme)
    assert told(at_work.gate("Write", **call)) == STOPPED
    assert at_work.gate("Write", dry_run=True, **call)["reason"] == "stopped"
    lift(acme, row.public_id, ADA)
    assert at_work.gate("Write", **call)["decision"] == "allow", "grants are as before"


def test_what_is_approved_during_a_stop_does_not_run(acme, at_work, reviewer):
    call = {"file_path": "docs/a.md", "content": "x"}
    held = at_work.gate("Write", **call)["approval"]["id"]
    halt(acme)
    assert Approval.objects.get().status == "PENDING"
    assert reviewer.post(f"approvals/{held}/decide", {"action": "approve"}).status_code == 200
    assert told(at_work.gate("Write", **call)) == STOPPED


def test_services_beside_the_gate_refuse_too(acme, at_work):
    run = at_work.gate("Bash", command="npm test", containment=CONTAINMENT)["containment"]
    halt(acme)
    report = {"exit_code": 0, "duration_ms": 1, "files": [created("src/auth/new.ts")]}
    for path, body in (
        ("sessions/s-1/request-scope", {"patterns": ["docs/**"], "reason": "x"}),
        ("sessions/s-1/request-scope", {"patterns": ["/tmp/x"], "access": "read", "reason": "x"}),
        ("sessions/s-1/complete-intent", {"verification_notes": "done"}),
        (f"runs/{run['run_id']}/effects", report),
        (f"runs/{run['run_id']}/land", {}),
    ):
        response = at_work.post(path, body)
        assert (response.status_code, response.json()["error_type"]) == (409, "SESSION_ENDED"), path
        assert "Ada stopped this workspace" in response.json()["error"]
    preflight = at_work.post("sessions/s-1/preflight", {}).json()
    assert (preflight["ok"], preflight["reason"]) == (False, "stopped")
    assert AgentSession.objects.get().selected_intent_id == "INT-001"
    assert (
        at_work.post("sessions/s-1/traces", {"path": "src/auth/a.ts", "content": "x"}).status_code == 201
    ), "what has happened is still recorded"


def test_the_ledger_says_who_stopped_what_and_who_started_it_again(acme, at_work):
    row = halt(acme, "agent")
    lift(acme, row.public_id, StopActor("Bo", "user:2:Bo"))
    entries = LedgerEntry.objects.filter(kind="policy", outcome__in=["stopped", "started"]).order_by("pk")
    assert [(entry.outcome, entry.agent) for entry in entries] == [
        ("stopped", "claude-code"), ("started", "claude-code"),
    ]  # fmt: skip
    assert [json.loads(bytes(entry.envelope))["actor"] for entry in entries] == ["user:1:Ada", "user:2:Bo"]


def test_only_admins_stop_and_start_again_over_rest(acme, at_work, reviewer, admin):
    for speaker in (at_work, reviewer):
        assert speaker.post("stops", {}).status_code == 403
    assert at_work.get("stops").status_code == 403
    created_ = admin.post("stops", {"reason": "look at this"})
    assert created_.status_code == 201, created_.json()
    assert admin.post("stops", {}).json()["error_type"] == "ALREADY_STOPPED"
    (shown,) = reviewer.get("stops").json()["results"]
    assert (shown["kind"], shown["subject"], shown["reason"]) == ("workspace", None, "look at this")
    assert told(at_work.gate("Read", file_path="a")) == STOPPED
    for speaker, status in ((reviewer, 403), (admin, 200), (admin, 404)):
        headers = {"Authorization": f"Bearer {speaker.secret}"}
        response = speaker.client.delete(f"/api/v1/stops/{shown['id']}", headers=headers)
        assert response.status_code == status
    assert at_work.gate("Read", file_path="a")["decision"] == "allow"


@pytest.mark.parametrize(
    "body", [{"kind": "agent", "subject": "nobody"}, {"kind": "session"}, {"kind": "all"}]
)
def test_a_subject_that_is_none_is_refused_in_words(at_work, admin, body):
    response = admin.post("stops", body)
    assert response.status_code == 400
    assert EmergencyStop.objects.count() == 0


def test_another_workspace_is_not_touched(acme, at_work):
    other = builders.speaker(builders.workspace("elsewhere"))
    builders.intent(Workspace.objects.get(slug="elsewhere"))
    row = halt(acme)
    assert other.gate("Read", file_path="a")["decision"] == "allow"
    elsewhere = builders.speaker(Workspace.objects.get(slug="elsewhere"), "admin")
    headers = {"Authorization": f"Bearer {elsewhere.secret}"}
    assert elsewhere.client.delete(f"/api/v1/stops/{row.public_id}", headers=headers).status_code == 404
    assert told(at_work.gate("Read", file_path="a")) == STOPPED


def test_explain_names_the_stop(acme, at_work):
    halt(acme)
    request = {"session_id": "s-1", "tool": "Write", "input": IN_SCOPE}
    answer = at_work.post("explain", request).json()
    assert told(answer) == STOPPED
    outcomes = {step["name"]: step["outcome"] for step in answer["steps"]}
    assert (outcomes["Session"], outcomes["Targets"], outcomes["Human"]) == ("deny", "skip", "deny")
