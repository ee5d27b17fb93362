"""Every commit that an open page shows reaches it at once, not by the next poll."""

from __future__ import annotations

import asyncio

import pytest
from asgiref.sync import sync_to_async
from django.db import transaction

from controlplane.shared import notify
from sessions.live import hub as hub_module
from sessions.live.hub import hub, stop_hub
from tests import builders
from traces.ledger.append import NewEntry, append

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


def selects(agent, _reviewer):
    agent.select("INT-001")


def asks(agent, _reviewer):
    agent.gate("Write", file_path="docs/a.md", content="x")


def is_allowed(agent, _reviewer):
    agent.gate("Read", file_path="src/auth/a.ts")


def traces(agent, _reviewer):
    agent.post("sessions/s-1/traces", {"path": "src/auth/a.ts", "content": "x"})


def ends(agent, _reviewer):
    agent.post("sessions/s-1/end", {})


def is_decided(agent, reviewer):
    approval = agent.gate("Write", file_path="docs/b.md", content="x")["approval"]["id"]
    reviewer.post(f"approvals/{approval}/decide", {"action": "approve", "grant": "once"})


def learns(_agent, reviewer):
    reviewer.post("lessons", {"problems": "Tests failed", "file": "src/a.ts"})


@pytest.mark.parametrize("act", [selects, asks, is_allowed, traces, ends, is_decided, learns])
def test_every_act_is_announced_once_it_is_committed(
    at_work, reviewer, announced, django_capture_on_commit_callbacks, act
):
    announced.clear()
    with django_capture_on_commit_callbacks() as callbacks:
        act(at_work, reviewer)
        assert announced == [], "nothing is announced before it can be read"
    for callback in callbacks:
        callback()
    assert set(announced) == {at_work.token.workspace_id}


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


@pytest.mark.django_db(transaction=True)
def test_what_is_rolled_back_is_not_announced(acme, announced):
    with transaction.atomic():
        append(NewEntry(acme.pk, "policy", {}))
        transaction.set_rollback(True)
    assert announced == []
