"""A contained run whose effects never came is an alarm, once, wherever somebody looks."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from sessions.gate.monitoring.health import compute_health
from sessions.gate.monitoring.missing_effects import alert_on_missing_effects
from sessions.models import AgentSession, ContainedRun
from tests.sessions.runs.builders import created, report, start
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db
WORDS = "The effects of a contained run never came"


@pytest.fixture
def run(at_work):
    return start(at_work)


def age(**ago):
    ContainedRun.objects.update(created_at=timezone.now() - timedelta(**ago))


def list_alerts():
    return LedgerEntry.objects.filter(outcome="alert").with_body()


def test_a_run_has_its_time_and_the_time_to_report(run):
    age(minutes=64)
    assert alert_on_missing_effects() == 0
    age(minutes=66)
    assert alert_on_missing_effects() == 1
    assert alert_on_missing_effects() == 0
    assert [entry.reason for entry in list_alerts()] == ["effects_missing"]


def test_the_end_of_its_session_ends_its_time(at_work, run):
    age(minutes=20)
    at_work.post("sessions/s-1/end", {})
    assert alert_on_missing_effects() == 0
    AgentSession.objects.update(ended_at=timezone.now() - timedelta(minutes=6))
    assert alert_on_missing_effects() == 1


def test_a_run_that_was_reported_is_none(at_work, run):
    report(at_work, run)
    age(days=1)
    assert alert_on_missing_effects() == 0


def test_it_is_seen_on_overview_and_session(at_work, run, rexs, agent):
    age(hours=2)
    alert_on_missing_effects()
    assert compute_health(AgentSession.objects.get()).state == "degraded"
    assert agent.get("sessions/s-1").json()["health"] == {
        "state": "degraded", "why": f"{WORDS}, so nobody knows what changed.",
    }  # fmt: skip
    assert "1 run never told what it changed" in rexs.get("/w/acme/").content.decode()
    session = rexs.get("/w/acme/sessions/s-1").content.decode()
    assert f"{WORDS}, so nobody knows what it changed: npm test" in session
    assert "1</b> alert" in session


def test_a_late_report_is_taken_and_ends_it(at_work, run):
    age(hours=2)
    alert_on_missing_effects()
    assert report(at_work, run, created("src/auth/a.ts"))["land"] == ["src/auth/a.ts"]
    assert compute_health(AgentSession.objects.get()).state == "governed"
    assert alert_on_missing_effects() == 0
