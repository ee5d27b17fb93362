"""Replay over REST and in the scope editor: real calls, decided again under a proposal."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from intents.models import Intent
from tests import builders
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db


@pytest.fixture
def worked(acme, agent):
    """INT-001 owns src/auth/**; one write in it, two out of it, one read, one with a secret in it."""
    builders.intent(acme)
    agent.select("INT-001")
    for path in ("src/auth/login.ts", "docs/design.md", "docs/design.md"):
        agent.gate("Write", file_path=f"/home/ada/acme/{path}", content="x", cwd="/home/ada/acme")
    agent.gate("Read", file_path="src/db/schema.sql")
    agent.gate("Write", file_path="docs/keys.md", content="password = hunter2hunter2")
    return agent


def replayed(reviewer, **proposal):
    answer = reviewer.post("replay", proposal)
    assert answer.status_code == 200, answer.json()
    return answer.json()


def test_a_wider_scope_shows_what_it_would_let_through(worked, reviewer):
    answer = replayed(reviewer, intent_id="INT-001", owned_scope=["src/auth/**", "docs/**"])
    assert answer["counts"] == [{"before": "ask", "after": "allow", "calls": 2}]
    (flip,) = answer["flips"]
    assert (flip["path"], flip["calls"], flip["recorded"], flip["tool"]) == (
        "docs/design.md",
        2,
        "ask",
        "Write",
    )
    assert (answer["looked_at"], answer["replayed"], answer["truncated"]) == (5, 4, False)
    assert [lost["calls"] for lost in answer["not_replayable"]] == [1]


def test_a_narrower_scope_shows_what_it_would_stop(worked, reviewer):
    answer = replayed(reviewer, intent_id="INT-001", owned_scope=["src/other/**"])
    assert [(flip["after"], flip["path"]) for flip in answer["flips"]] == [("ask", "src/auth/login.ts")]


def test_an_ignore_file_and_a_policy_can_be_proposed(worked, reviewer):
    ignored = replayed(reviewer, intentignore="*.sql\n")
    assert [(flip["before"], flip["path"]) for flip in ignored["flips"]] == [("allow", "src/db/schema.sql")]
    off = replayed(reviewer, policy={"enforcement": "off"})
    assert off["counts"] == [{"before": "ask", "after": "allow", "calls": 2}]


def test_nothing_is_changed_by_it(acme, worked, reviewer):
    before = LedgerEntry.objects.count()
    replayed(reviewer, intent_id="INT-001", owned_scope=[], policy={"empty_scope": "allow"})
    assert LedgerEntry.objects.count() == before
    assert Intent.objects.get().owned_scope == ["src/auth/**"]


def test_only_the_newest_calls_are_looked_at_and_it_says_so(worked, reviewer):
    answer = replayed(reviewer, intent_id="INT-001", owned_scope=["docs/**"], limit=2, days=1)
    assert (answer["looked_at"], answer["truncated"], answer["days"]) == (2, True, 1)


@pytest.mark.parametrize(
    ("body", "status", "error_type"),
    [
        ({}, 400, "INVALID_INPUT"),
        ({"owned_scope": ["docs/**"]}, 404, "NOT_FOUND"),
        ({"owned_scope": ["docs/"], "intent_id": "INT-001"}, 400, "INVALID_GLOB"),
        ({"policy": {"enforcement": "perhaps"}}, 400, "INVALID_POLICY"),
        ({"policy": {"unheard_of": 1}}, 400, "INVALID_POLICY"),
        ({"intentignore": "x" * 300_000}, 400, "INVALID_INPUT"),
        ({"policy": {}, "days": 0}, 400, "INVALID_INPUT"),
    ],
)
def test_a_proposal_that_is_none_is_refused(acme, reviewer, body, status, error_type):
    builders.intent(acme)
    answer = reviewer.post("replay", body)
    assert (answer.status_code, answer.json()["error_type"]) == (status, error_type)


def test_agents_may_not_replay(agent):
    assert agent.post("replay", {"policy": {}}).status_code == 403


def test_queries_do_not_grow_with_the_calls(acme, worked, reviewer):
    with CaptureQueriesContext(connection) as few:
        replayed(reviewer, policy={})
    for number in range(20):
        worked.gate("Write", file_path=f"docs/{number}.md", content="x")
    with CaptureQueriesContext(connection) as many:
        replayed(reviewer, policy={})
    assert len(many) == len(few)


def test_the_scope_editor_shows_real_calls_that_would_flip(acme, ada, worked):
    page = builders.signed_in(ada)
    answer = page.post("/w/acme/intents/INT-001/scope-preview/", {"scope": "src/auth/**\ndocs/**"})
    text = answer.content.decode()
    assert "Replayed 4 recorded calls of the last 14 days; 1 more cannot be replayed." in text
    assert '<td class="num">2</td>' in text
