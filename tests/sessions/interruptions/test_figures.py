"""Figures on interruptions, over REST."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.shared.tokens import create_token
from tests import builders
from tests.sessions.runs.builders import created, report, start
from traces.counts.counters import count_sealed
from traces.ledger.new_leaves import LeafFollower
from traces.ledger.sealing import seal_all

pytestmark = pytest.mark.django_db


@pytest.fixture
def busy(acme, agent, reviewer):
    """Two sessions: one is asked three times, the other never; eight calls in all."""
    builders.intent(acme)
    builders.intent(acme, "INT-002", owned_scope=["lib/**"])
    agent.select("INT-001")
    agent.select("INT-002", session="s-2")
    for tool, action in (("create_issue", "approve"), ("digest", "reject")):
        approval = agent.gate(f"mcp__linear__{tool}", tool_use_id=tool)["approval"]["id"]
        reviewer.post(f"approvals/{approval}/decide", {"action": action})
    agent.gate("Write", file_path="docs/x.md", content="x")
    for name in "abcde":
        agent.gate("Read", session="s-2", file_path=f"lib/{name}.ts")
    return acme


def test_asks_beside_calls_sessions_kinds_and_effects(busy, reviewer):
    answer = reviewer.get("interruptions")
    assert answer.status_code == 200
    figures = answer.json()
    assert (figures["calls"], figures["asks"], figures["sessions"]) == (8, 3, 2)
    assert figures["asks_per_100_calls"] == 37.5
    assert (figures["asks_per_session"], figures["sessions_without_asks"]) == (1.5, 1)
    assert (figures["approved"], figures["rejected"], figures["share_approved"]) == (1, 1, 0.5)
    assert figures["time_waited"]["median_seconds"] >= 0
    kinds = {row["kind"]: row for row in figures["by_kind"]}
    assert kinds["mcp:linear.create_issue"]["effect"] == "sends"
    assert kinds["mcp:linear.digest"]["rejected"] == 1
    assert kinds["not_in_scope"]["effect"] == "writes"
    assert {row["effect"]: row["asks"] for row in figures["by_effect"]} == {
        "unknown": 1,
        "sends": 1,
        "writes": 1,
    }
    assert sum(day["asks"] for day in figures["by_day"]) == 3
    assert len(figures["by_day"]) == 15


def test_what_is_held_after_a_run_interrupts_as_a_held_call_does(busy, agent, reviewer):
    report(agent, start(agent), created("docs/y.md"))
    figures = reviewer.get("interruptions").json()
    assert (figures["calls"], figures["asks"]) == (9, 4)


def test_counted_hours_and_new_entries_add_up(busy, reviewer, agent):
    since = (timezone.now() - timedelta(hours=3)).isoformat()
    seal_all()
    LeafFollower(count_sealed).run_once()
    agent.gate("Read", file_path="src/new.ts")
    until = (timezone.now() + timedelta(hours=2)).isoformat()
    assert reviewer.get("interruptions", since=since, until=until).json()["calls"] == 9


def test_only_an_interval_an_agent_or_an_intent(busy, reviewer):
    ago = (timezone.now() - timedelta(hours=2)).isoformat()
    assert reviewer.get("interruptions", until=ago).json()["calls"] == 0
    assert reviewer.get("interruptions", until=ago).json()["asks_per_100_calls"] is None
    assert reviewer.get("interruptions", intent="INT-002").json()["asks"] == 0
    assert reviewer.get("interruptions", agent="claude-code").json()["asks"] == 3
    assert reviewer.get("interruptions", agent="codex").json()["asks"] == 0


@pytest.mark.parametrize(
    "query",
    [{"since": "yesterday"}, {"since": "2026-13-01"}, {"since": "2999-01-01"}, {"since": "1990-01-01"}],
)
def test_an_interval_that_makes_no_sense_is_refused(reviewer, query):
    assert reviewer.get("interruptions", **query).status_code == 400


def test_an_agent_reads_no_figures(acme, agent):
    assert agent.get("interruptions").status_code == 403
    assert agent.get("rules/proposals").status_code == 403


def test_a_workspace_sees_its_own_calls_only(busy):
    other = builders.workspace("other")
    _, secret = create_token(other, "reviewer", "theirs")
    answer = builders.Client().get("/api/v1/interruptions", headers={"Authorization": f"Bearer {secret}"})
    assert (answer.json()["calls"], answer.json()["asks"]) == (0, 0)
