"""Whether hooks really run: seen from what arrives, told to people, and an alarm where it is half of it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.shared.client_download import build_client, client_version
from sessions.gate.monitoring.health import (
    UNGATED,
    GateHealth,
    alert_on_partial_hooks,
    compute_health,
    compute_healths,
)
from sessions.models import AgentSession
from tests import builders
from traces.ledger.append import read_body
from traces.models import LedgerEntry


@pytest.fixture
def busy(acme, agent):
    """A session that has selected INT-001."""
    builders.intent(acme)
    agent.post("sessions", {"session_id": "s-1", "agent": {"name": "claude-code", "version": "2.1"}})
    agent.post("sessions/s-1/select-intent", {"intent_id": "INT-001"})
    return AgentSession.objects.get()


def write(agent, number):
    body = {
        "session_id": "s-1",
        "tool": "Write",
        "input": {"file_path": f"src/auth/{number}.py", "content": "x"},
    }
    assert agent.post("gate", body).json()["decision"] == "allow"


def trace(agent):
    agent.post("sessions/s-1/traces", {"path": "src/auth/a.py", "content": "x"})


def alerts():
    rows = LedgerEntry.objects.filter(kind="session", outcome="alert")
    return [read_body(entry)["text"] for entry in rows]


def test_a_session_of_which_nothing_was_heard_is_silent(busy):
    assert compute_health(busy).state is GateHealth.SILENT


def test_calls_and_changes_together_are_governed(busy, agent):
    for number in range(5):
        write(agent, number)
    trace(agent)
    assert compute_health(busy).state is GateHealth.GOVERNED
    assert alert_on_partial_hooks() == 0


def test_changes_without_calls_are_an_alarm(busy, agent):
    trace(agent)
    assert compute_health(busy) == UNGATED
    assert [alert_on_partial_hooks(), alert_on_partial_hooks()] == [1, 0]
    assert "its hook before tools does not run" in alerts()[0]


def test_calls_without_changes_are_an_alarm_once_they_are_several(busy, agent):
    write(agent, 0)
    write(agent, 1)
    assert compute_health(busy).state is GateHealth.GOVERNED
    write(agent, 2)
    assert compute_health(busy).state is GateHealth.DEGRADED
    assert [alert_on_partial_hooks(), alert_on_partial_hooks()] == [1, 0]
    assert alerts() == [
        "3 changes were let through and none was reported: its hook after tools does not run."
    ]


def test_reading_alone_needs_no_reports(busy, agent):
    for _ in range(5):
        agent.post("gate", {"session_id": "s-1", "tool": "Read", "input": {"file_path": "src/a.py"}})
    assert compute_health(busy).state is GateHealth.GOVERNED


def test_only_sessions_that_live_are_watched(busy, agent):
    trace(agent)
    AgentSession.objects.update(last_seen_at=timezone.now() - timedelta(hours=2))
    assert alert_on_partial_hooks() == 0


def test_many_sessions_cost_two_queries(acme, busy, agent, django_assert_max_num_queries):
    write(agent, 0)
    with django_assert_max_num_queries(2):
        assert len(compute_healths(acme.pk, ["s-1", *(f"other-{n}" for n in range(50))])) == 51


def test_pages_and_the_api_tell_it(acme, rex, busy, agent, reviewer):
    trace(agent)
    client = builders.signed_in(rex)
    assert "Degraded" in client.get(f"/w/{acme.slug}/sessions/").content.decode()
    assert UNGATED.why in client.get(f"/w/{acme.slug}/sessions/s-1").content.decode()
    assert reviewer.get("sessions/s-1").json()["health"] == {"state": "degraded", "why": UNGATED.why}


def test_the_version_of_the_hook_client_is_known_and_an_old_one_marked(acme, rex, agent):
    hook = {"session_id": "s-2", "hook_event_name": "SessionStart", "icp": {"client_version": "0123456789ab"}}
    headers = {"Authorization": f"Bearer {agent.secret}"}
    agent.client.post(
        "/hooks/claude-code/SessionStart", hook, content_type="application/json", headers=headers
    )
    page = builders.signed_in(rex).get(f"/w/{acme.slug}/sessions/s-2").content.decode()
    assert "0123456789ab" in page
    assert "out of date" in page
    hook["icp"]["client_version"] = client_version()
    agent.client.post(
        "/hooks/claude-code/SessionStart", hook, content_type="application/json", headers=headers
    )
    assert "out of date" not in builders.signed_in(rex).get(f"/w/{acme.slug}/sessions/s-2").content.decode()


def test_the_served_program_tells_its_own_version():
    assert f'VERSION = "{client_version()}"' in build_client()
