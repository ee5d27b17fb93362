"""What an event brings to a page: the rows of what it shows, and nothing for the others."""

from __future__ import annotations

import json

import pytest
from django.db import transaction

from intents.store import RegistryChanges
from sessions.live import changes as live_changes
from sessions.live.changes import attach_changes, attach_queue
from sessions.live.events import ALL_EVENTS, find_newest_seq, list_events_since
from tests import builders
from traces.models import LedgerEntry

TIMELINE = "timeline?session=s-1&show=&q="
EVERY_VIEW = ("calls", "intents", "overview", "queue", "sessions", TIMELINE)


def draw(workspace_id, seq, views):
    """The events after a number as the hub sends them to pages with these views."""
    events = attach_queue(workspace_id, list_events_since(workspace_id, seq), with_rows="queue" in views)
    return attach_changes(workspace_id, events, views)


@pytest.fixture
def at_work(acme, agent):
    builders.intent(acme)
    agent.select("INT-001")
    return agent


@pytest.fixture
def act(acme, at_work, rexs_id):
    """`act(view, call)`: the messages that a page with this view gets of what the call did."""

    def messages(view, call, views=EVERY_VIEW):
        before = find_newest_seq(acme.pk)
        call()
        events = draw(acme.pk, before, {*views, view})
        texts = [event.to_text(frozenset({view} - {""}), rexs_id) for event in events]
        return [json.loads(text) for text in texts if text]

    return messages


@pytest.fixture
def rexs_id(rex):
    return rex.pk


def changed_ids(messages):
    return [change["id"] for message in messages for change in message.get("changes", ())]


def read(agent, session="s-1"):
    return lambda: agent.gate("Read", session=session, file_path="src/auth/a.ts")


def test_a_call_changes_the_row_of_its_session(act, at_work, acme):
    session = acme.agent_sessions.get()
    (message,) = act("sessions", read(at_work))
    assert changed_ids([message]) == [f"session-{session.pk}"]
    assert message["changes"][0]["html"].startswith(f'<tr id="session-{session.pk}"')


def test_a_burst_of_one_session_is_one_row(act, at_work):
    messages = act("sessions", lambda: [read(at_work)() for _ in range(20)])
    assert len(changed_ids(messages)) == 1


def test_a_session_that_opens_also_changes_how_many_are_active(act, at_work, acme):
    ids = changed_ids(act("sessions", lambda: at_work.post("sessions", {"session_id": "s-2"})))
    assert ids == [f"session-{acme.agent_sessions.get(session_id='s-2').pk}", "sessions-alive"]


def test_a_session_that_ended_is_added_to_no_list(act, at_work):
    messages = act("sessions", lambda: at_work.post("sessions/s-1/end", {}))
    assert [change["list"] for message in messages for change in message["changes"]] == ["", ""]


def test_a_timeline_hears_of_its_own_session_alone(act, at_work):
    at_work.post("sessions", {"session_id": "s-2"})
    assert act(TIMELINE, read(at_work, "s-2")) == []
    ids = changed_ids(act(TIMELINE, read(at_work)))
    newest = LedgerEntry.objects.get(session_id="s-1", kind="decision", outcome="allow", tool="Read")
    assert ids == ["session-summary", "session-state", f"entry-{newest.pk}"]


def test_a_call_like_the_one_before_joins_its_row(act, at_work):
    read(at_work)()
    first = LedgerEntry.objects.filter(tool="Read").get()
    (message,) = act(TIMELINE, read(at_work))
    row = message["changes"][-1]
    assert row["id"] == f"entry-{first.pk}"
    assert "\N{MULTIPLICATION SIGN}2" in row["html"]


def test_a_decision_joins_the_row_of_the_call_that_was_held(act, at_work, reviewer):
    asked = at_work.gate("Write", file_path="docs/a.md", content="x")["approval"]["id"]
    held = LedgerEntry.objects.get(kind="decision", outcome="ask")

    def decide():
        reviewer.post(f"approvals/{asked}/decide", {"action": "reject", "comment": "not there"})

    ids = changed_ids(act(TIMELINE, decide))
    assert ids[-1] == f"entry-{held.pk}"


def test_a_row_that_began_before_what_is_read_makes_the_page_fetch(act, at_work, monkeypatch):
    monkeypatch.setattr("sessions.pages.live_rows.RECENT_ENTRIES", (2, 3))
    for _ in range(5):
        read(at_work)()
    (message,) = act(TIMELINE, read(at_work))
    assert message["drawn"] is False


def test_a_long_run_is_read_from_its_beginning(act, at_work, monkeypatch):
    monkeypatch.setattr("sessions.pages.live_rows.RECENT_ENTRIES", (2, 200))
    for _ in range(5):
        read(at_work)()
    (message,) = act(TIMELINE, read(at_work))
    assert "\N{MULTIPLICATION SIGN}6" in message["changes"][-1]["html"]


def test_a_call_that_was_held_before_what_is_read_makes_the_page_fetch(act, at_work, reviewer, monkeypatch):
    monkeypatch.setattr("sessions.pages.live_rows.RECENT_ENTRIES", (4,))
    asked = at_work.gate("Write", file_path="docs/a.md", content="x")["approval"]["id"]
    for number in range(5):
        at_work.gate("Write", file_path=f"src/auth/{number}.ts", content="x")
    (message,) = act(TIMELINE, lambda: reviewer.post(f"approvals/{asked}/decide", {"action": "reject"}))
    assert message["drawn"] is False


def test_more_entries_than_are_read_make_the_page_fetch(act, at_work, monkeypatch):
    monkeypatch.setattr("sessions.pages.live_rows.RECENT_ENTRIES", (2, 3))

    def write_much():
        for number in range(5):
            at_work.gate("Write", file_path=f"src/auth/{number}.ts", content="x")

    assert {message["drawn"] for message in act(TIMELINE, write_much)} == {False}


def test_a_filtered_timeline_gets_what_passes_its_filter(act, at_work):
    view = "timeline?session=s-1&show=changes&q=auth"
    assert changed_ids(act(view, read(at_work))) == ["session-summary", "session-state"]
    ids = changed_ids(
        act(view, lambda: at_work.post("sessions/s-1/traces", {"path": "src/auth/a.ts", "content": "x"}))
    )
    assert len(ids) == 3


@pytest.mark.parametrize("view", ["calls", "overview"])
def test_of_many_calls_as_many_are_drawn_as_the_list_has_room_for(act, at_work, view):
    messages = act(view, lambda: [read(at_work)() for _ in range(12)])
    ids = changed_ids(messages)
    newest = LedgerEntry.objects.filter(kind="decision").order_by("-pk").values_list("pk", flat=True)[:8]
    assert ids == [f"call-{number}" for number in reversed(newest)]


def test_an_intent_that_changes_or_is_taken_changes_its_row(act, acme, agent, admin):
    intent = builders.intent(acme, "INT-002", owned_scope=["docs/**"])
    ids = [f"intent-{intent.pk}", "intents-strip"]
    values = {"name": "Another name", "version": intent.version}
    (message,) = act("intents", lambda: admin.patch("intents/INT-002", values))
    assert changed_ids([message]) == ids
    assert "Another name" in message["changes"][0]["html"]
    messages = act("intents", lambda: agent.select("INT-002", "s-2"))
    assert "s-2" in messages[-1]["changes"][0]["html"]
    assert changed_ids(messages) == ids
    messages = act("intents", lambda: agent.post("sessions/s-2/end", {}))
    assert "nobody" in messages[-1]["changes"][0]["html"]


def test_an_intent_that_is_removed_makes_the_page_fetch(act, acme):
    intent = builders.intent(acme, "INT-002", owned_scope=["docs/**"])

    def remove():
        with transaction.atomic():
            changes = RegistryChanges(acme.pk, "test", "not needed")
            changes.remove(intent)
            changes.finish()

    (message,) = act("intents", remove)
    assert message["drawn"] is False


def test_an_approval_changes_what_waits_on_the_overview(act, at_work):
    def ask():
        at_work.gate("Write", file_path="docs/a.md", content="x")

    ids = changed_ids(act("overview", ask))
    assert ids[1:] == ["waiting", "figure-pending"]
    assert [message["pending"] for message in act("calls", ask) if "pending" in message] == []


def test_a_page_that_shows_nothing_live_gets_approvals_alone(act, at_work):
    assert act("", read(at_work)) == []
    (message,) = act("", lambda: at_work.gate("Write", file_path="docs/a.md", content="x"))
    assert (message["type"], message["pending"]) == ("approval.requested", 1)
    assert "queue" not in message
    assert "changes" not in message


def test_the_approvals_page_learns_which_session_an_event_is_of(act, at_work):
    """An open receipt follows the call to its end; no row is drawn for that."""
    (message,) = act("queue", read(at_work))
    assert (message["type"], message["data"]) == ("decision.made", {"session_id": "s-1"})
    assert set(message) == {"seq", "type", "data"}


def test_a_page_that_counts_entries_gets_every_event(act, at_work, acme, admin):
    def change_much():
        read(at_work)()
        builders.intent(acme, "INT-002", owned_scope=["docs/**"])
        admin.patch("policy", {"approval_timeout_minutes": 30})
        admin.post("lessons", {"problems": "Tests failed", "file": "src/a.ts"})

    types = [message["type"] for message in act(ALL_EVENTS, change_much)]
    assert types == ["decision.made", "intent.changed", "policy.changed", "lesson.recorded"]


def test_a_client_that_is_no_page_gets_every_event_and_no_html(acme, at_work):
    before = find_newest_seq(acme.pk)
    read(at_work)()
    (event,) = draw(acme.pk, before, EVERY_VIEW)
    message = json.loads(event.to_text(None, None))
    assert message["type"] == "decision.made"
    assert set(message) == {"seq", "type", "at", "data"}


def test_what_came_while_a_page_was_away_is_not_drawn(acme, at_work):
    before = find_newest_seq(acme.pk)
    read(at_work)()
    (event,) = list_events_since(acme.pk, before)
    assert json.loads(event.to_text(frozenset({"sessions"}), None))["drawn"] is False


@pytest.mark.parametrize("view", ["sessions", "queue"])
def test_a_row_that_cannot_be_drawn_keeps_the_event_from_nobody(act, at_work, monkeypatch, caplog, view):
    monkeypatch.setitem(live_changes.RENDERERS, "sessions", "tests.sessions.live.broken")
    monkeypatch.setattr(live_changes, "RENDER_QUEUE", "tests.sessions.live.broken")
    messages = act(view, lambda: at_work.gate("Write", file_path="docs/a.md", content="x"))
    assert {message["drawn"] for message in messages} == {False}
    assert "could not draw" in caplog.text


def test_hostile_names_are_escaped_in_pushed_rows(act, acme, agent):
    session = "<img src=x>"
    opening = {"session_id": session, "agent": {"name": "<script>alert(1)</script>"}}
    messages = act("sessions", lambda: agent.post("sessions", opening))
    html = "".join(change["html"] for message in messages for change in message["changes"])
    assert "&lt;img" in html
    assert "&lt;script" in html
    assert "<img" not in html
    assert "<script" not in html
