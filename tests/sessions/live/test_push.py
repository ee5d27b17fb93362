"""Every commit that an open page shows reaches it at once, not by the next poll."""

from __future__ import annotations

import asyncio

import pytest
from asgiref.sync import sync_to_async
from django.db import connections, transaction
from django.utils import timezone

from controlplane.models import Role, TokenRole
from controlplane.pages.settings import members, tokens
from controlplane.shared import notify
from sessions.approvals import grants, lifecycle
from sessions.approvals.decision_input import Decider
from sessions.lifecycle.end import freeze_session
from sessions.live import hub as hub_module
from sessions.live.events import find_newest_seq, list_events_since
from sessions.live.hub import hub, stop_hub
from sessions.models import Approval, ApprovalGrant
from tests import builders
from traces.ledger.append import NewEntry, append
from traces.models import LedgerEntry

SOON = 20  # seconds; far less than the poll of an hour that is set here


@pytest.fixture
def at_work(acme, agent):
    """An agent whose session is open, in a workspace with INT-001."""
    builders.intent(acme)
    agent.post("sessions", {"session_id": "s-1"})
    return agent


@pytest.fixture
def announced(monkeypatch):
    """Workspaces in the order in which their entries were announced."""
    workspaces: list[int] = []
    monkeypatch.setattr(notify, "announce", workspaces.append)
    return workspaces


CONTAINMENT = {"overlay": True, "landlock": 7}
TRACE = {"id": "e-1", "timestamp": "2026-02-21T12:00:00Z", "files": []}
REGISTRY = b"active_intents: [{id: INT-007, name: Imported, status: PENDING, owned_scope: ['lib/**']}]"


def ask(acme):
    acme.agent.gate("Write", file_path="docs/a.md", content="x")
    return Approval.objects.get(status="PENDING")


def decide(acme, **decision):
    return acme.reviewer.post(f"approvals/{ask(acme).public_id}/decide", decision)


def expire(acme):
    approval = ask(acme)
    Approval.objects.update(expires_at=timezone.now())
    assert lifecycle.expire(approval)


def extend(acme):
    lifecycle.extend(ask(acme), Decider("Rex", "token:rex"))


def revoke_grant(acme):
    decide(acme, action="approve", grant="session")
    assert grants.revoke(ApprovalGrant.objects.get(), "test")


def run_contained(acme):
    acme.agent.select("INT-001")
    answer = acme.agent.gate("Bash", command="npm test", containment=CONTAINMENT)
    return f"runs/{answer['containment']['run_id']}"


def report_run(acme):
    run = run_contained(acme)
    return acme.agent.post(f"{run}/effects", {"exit_code": 0, "duration_ms": 9, "files": []})


def freeze(acme):
    assert freeze_session(acme.agent_sessions.get(), "test", frozen=True)


def open_session(acme, session="s-2"):
    return acme.agent.post("sessions", {"session_id": session})


def resume(acme):
    acme.agent.post("sessions/s-1/end", {})
    return open_session(acme, "s-1")


def change_intent(acme):
    intent = acme.intents.get()
    values = {"name": "Another name", "version": intent.version}
    return acme.admin.patch("intents/INT-001", values)


def judge_tool(acme):
    tool = {"name": "digest", "annotations": {"readOnlyHint": None}}
    acme.agent.post("mcp-tools", {"server": "linear", "tools": [tool]})
    return acme.admin.patch("mcp-tools", {"kind": "mcp:linear.digest", "reads_only": True})


def reconcile(acme):
    file = {"path": "src/a.ts", "status": "D"}
    return acme.agent.post("reconciliations", {"base": "a" * 40, "head": "b" * 40, "files": [file]})


def redact(acme):
    acme.agent.post("traces", TRACE)
    return acme.admin.post("ledger/entries/e-1/redact", {"reason": "held a password"})


def learn(acme):
    return acme.reviewer.post("lessons", {"problems": "Tests failed", "file": "src/a.ts"})


def retire_lesson(acme):
    learn(acme)
    (lesson,) = acme.reviewer.get("lessons").json()["results"]
    return acme.reviewer.post(f"lessons/{lesson['id']}/retire", {"reason": "old"})


# Each act is prepared by those before it in its function; the last entry is of the kind that is named.
ACTS = {
    "a session opens": (open_session, "session"),
    "a session ends": (lambda acme: acme.agent.post("sessions/s-1/end", {}), "session"),
    "a session is resumed": (resume, "session"),
    "a session is frozen": (freeze, "session"),
    "an intent is selected": (lambda acme: acme.agent.select("INT-001"), "session"),
    "a call is allowed": (lambda acme: acme.agent.gate("Read", file_path="src/a.ts"), "decision"),
    "a call is held": (ask, "approval"),
    "a call is approved": (lambda acme: decide(acme, action="approve", grant="once"), "approval"),
    "a call is rejected": (lambda acme: decide(acme, action="reject"), "approval"),
    "an approval expires": (expire, "approval"),
    "a deadline is extended": (extend, "approval"),
    "a grant is revoked": (revoke_grant, "approval"),
    "a change is traced": (
        lambda acme: acme.agent.post("sessions/s-1/traces", {"path": "src/a.ts", "content": "x"}),
        "trace",
    ),
    "an entry is posted": (lambda acme: acme.agent.post("traces", TRACE), "trace"),
    "a run is reported": (report_run, "session"),
    "a lesson is recorded": (learn, "lesson"),
    "a lesson is retired": (retire_lesson, "lesson"),
    "an intent is added": (lambda acme: builders.intent(acme, "INT-002", owned_scope=["lib/**"]), "intent"),
    "an intent is changed": (change_intent, "intent"),
    "a registry is imported": (
        lambda acme: acme.admin.post("intents/import", REGISTRY, content_type="application/yaml"),
        "import",
    ),
    "the policy is changed": (
        lambda acme: acme.admin.patch("policy", {"approval_timeout_minutes": 5}),
        "policy",
    ),
    ".intentignore is changed": (lambda acme: acme.admin.put("intentignore", "*.pem\n"), "policy"),
    "a rule is made": (lambda acme: acme.admin.post("rules", {"kind": "go test"}), "policy"),
    "an MCP tool is judged": (judge_tool, "policy"),
    "a member joins": (lambda acme: members.add(acme, "max", Role.AUDITOR, actor="test"), "policy"),
    "a token is issued": (
        lambda acme: tokens.issue(acme, TokenRole.AGENT, "Codex", acts_for_id=None, actor="test"),
        "policy",
    ),
    "git is compared": (reconcile, "reconciliation"),
    "an entry is redacted": (redact, "redaction"),
}


@pytest.fixture
def staffed(acme, at_work, reviewer, admin, max_):
    """The workspace with everybody who acts in it; Max exists, but is no member yet."""
    acme.agent, acme.reviewer, acme.admin = at_work, reviewer, admin
    return acme


@pytest.mark.parametrize(("act", "kind"), ACTS.values(), ids=ACTS)
def test_what_pages_show_is_announced_once_it_is_committed(
    staffed, announced, django_capture_on_commit_callbacks, act, kind
):
    acme = staffed
    seq = find_newest_seq(acme.pk)
    announced.clear()
    with django_capture_on_commit_callbacks() as callbacks:
        answer = act(acme)
        assert getattr(answer, "status_code", 200) < 300, answer.content
        assert announced == [], "nothing is announced before it can be read"
    events = list_events_since(acme.pk, seq)
    entries = LedgerEntry.objects.for_workspace(acme.pk).above(seq)
    assert len(events) == entries.count(), "every kind of entry is an event"
    assert kind in set(entries.values_list("kind", flat=True))
    for callback in callbacks:
        callback()
    assert len(announced) == len(events)
    assert set(announced) == {acme.pk}


@pytest.mark.django_db(transaction=True)
async def test_a_page_hears_of_an_entry_without_waiting_for_the_poll(acme, agent, monkeypatch):
    monkeypatch.setattr(hub_module, "TICK_SECONDS", 3600)
    received: asyncio.Queue = asyncio.Queue()
    await hub().subscribe(acme.pk, lambda events: [received.put_nowait(event.type) for event in events])
    try:
        await sync_to_async(agent.post)("sessions", {"session_id": "s-1"})
        assert await asyncio.wait_for(received.get(), SOON) == "session.changed"
    finally:
        await stop_hub()
        await sync_to_async(connections.close_all)()  # of the thread that posted


@pytest.mark.django_db(transaction=True)
def test_what_is_rolled_back_is_not_announced(acme, announced):
    with transaction.atomic():
        append(NewEntry(acme.pk, "policy", {}))
        transaction.set_rollback(True)
    assert announced == []
