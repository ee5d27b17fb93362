"""The order of the queue, and what it says of each row."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from sessions.approvals import lifecycle
from sessions.approvals.decision_input import Decider, DecisionInput
from sessions.approvals.queue import find_next_id, load_queue, pick_next_id
from sessions.models import AgentSession, Approval
from tests import builders

NARROW, MEDIUM, WIDE = Approval.Reach.NARROW, Approval.Reach.MEDIUM, Approval.Reach.WIDE


@pytest.fixture
def session(acme, agent):
    return AgentSession.objects.create(
        workspace=acme, session_id="s-1", token=agent.token, agent_name="codex", last_seen_at=timezone.now()
    )


def waiting(session, digest, reach=NARROW, *, minutes=1, left=30, **fields) -> Approval:
    now = timezone.now()
    facts = {
        "tool": "Write",
        "reason": "not_in_scope",
        "error_type": "SCOPE_VIOLATION",
        "intent_id": "INT-001",
    }
    facts["call"] = {"offending": [f"{digest}.md"], "input": {}}
    return Approval.objects.create(
        workspace=session.workspace,
        session=session,
        digest=digest,
        reach=reach,
        reach_why="1 file",
        requested_at=now - timedelta(minutes=minutes),
        expires_at=now + timedelta(minutes=left),
        **facts | fields,
    )


def objects(queue):
    return [(group.level, [item.object for item in group.approvals]) for group in queue.groups]


def test_wide_reach_comes_first_then_the_longest_wait(session, rex):
    for digest, reach, minutes in (
        ("a", NARROW, 9),
        ("b", WIDE, 1),
        ("c", NARROW, 10),
        ("d", WIDE, 2),
        ("e", MEDIUM, 5),
    ):
        waiting(session, digest, reach, minutes=minutes)
    assert objects(load_queue(session.workspace, rex)) == [
        ("wide", ["d.md", "b.md"]),
        ("medium", ["e.md"]),
        ("narrow", ["c.md", "a.md"]),
    ]


def test_the_strip_counts_and_warns(session, rex):
    waiting(session, "a", minutes=4)
    assert load_queue(session.workspace, rex).strip.next_expiry is None
    soon = waiting(session, "b", left=1)
    strip = load_queue(session.workspace, rex).strip
    assert (strip.pending, strip.next_expiry) == (2, soon.expires_at)
    assert strip.oldest is not None
    assert strip.last_decision is None


def test_what_is_over_waits_no_longer_and_stays_ten_minutes(session, rex, ada):
    now = timezone.now()
    by_rex = waiting(session, "a")
    lifecycle.decide(by_rex, Decider("Rex", user_id=rex.pk), DecisionInput("reject", comment="no"))
    waiting(session, "b", status="EXPIRED", decided_at=now - timedelta(minutes=1))
    waiting(session, "c", status="CANCELLED", decided_at=now - timedelta(minutes=2))
    waiting(session, "d", status="APPROVED", decided_at=now - timedelta(minutes=11))
    waiting(session, "e", left=-1)
    queue = load_queue(session.workspace, rex)
    assert queue.groups == ()
    assert [(item.state, item.summary) for item in queue.decided] == [
        ("rejected", "Rejected by you"),
        ("expired", "Timed out, nobody decided"),
        ("cancelled", "Cancelled: the session ended"),
    ]
    assert load_queue(session.workspace, ada).decided[0].summary == "Rejected by Rex"


def test_a_row_says_what_and_why(session, rex):
    waiting(session, "a", tool="Edit")
    waiting(session, "b", tool="Bash", call={"input": {"command": "\n rm x\nls"}}, reason="unknown_target")
    waiting(session, "c", kind="scope", call={"patterns": ["docs/**", "x"]})
    waiting(session, "d", kind="completion", call={})
    waiting(session, "e", tool="Edit", error_type="STALE_FILE", reason="hash_mismatch")
    waiting(session, "f", tool="mcp__x__y", reason="unknown_target", call={})
    waiting(
        session,
        "g",
        tool="delete_file",
        call={"targets": [{"path": "x", "op": "delete"}, {"path": "y", "op": "delete"}]},
    )
    waiting(session, "h", tool="Edit", error_type="INTENT_IGNORED", reason="intentignore")
    waiting(session, "i", tool="Edit", reason="odd_reason", message="words")
    rows = [item for group in load_queue(session.workspace, rex).groups for item in group.approvals]
    assert [(row.kind, row.object, row.object_is) for row in rows] == [
        ("edit", "a.md", "path"),
        ("shell", "rm x", "command"),
        ("scope", "+ docs/** and 1 more", "text"),
        ("completion", "Complete INT-001", "text"),
        ("stale", "e.md", "path"),
        ("other", "mcp__x__y", "text"),
        ("delete", "x and 1 more", "text"),
        ("edit", "h.md", "path"),
        ("edit", "i.md", "path"),
    ]
    assert [row.summary for row in rows] == [
        "Outside INT-001; 1 file",
        "Unknown target: Bash",
        "Requests a wider scope of INT-001; 1 file",
        "Requests completion of INT-001; 1 file",
        "Stale; 1 file",
        "Unknown target: mcp__x__y",
        "Outside INT-001; 1 file",
        "INT-001 is disabled; 1 file",
        "odd reason; 1 file",
    ]
    assert {row.agent.name for row in rows} == {"Codex"}


def test_identical_asks_are_one_row(acme, agent, rex):
    builders.intent(acme)
    agent.select("INT-001")
    for _ in range(3):
        agent.gate("Write", file_path="docs/a.md", content="x")
    (group,) = load_queue(acme, rex).groups
    assert len(group.approvals) == 1


def test_after_a_card_comes_what_follows_it_then_the_top(session):
    wide, early, late = (
        waiting(session, "w", WIDE),
        waiting(session, "a", minutes=9),
        waiting(session, "b", minutes=3),
    )
    workspace = session.workspace
    assert find_next_id(workspace, wide) == early.public_id
    assert find_next_id(workspace, early) == late.public_id
    assert find_next_id(workspace, late) == wide.public_id
    assert pick_next_id([], late) is None


def test_another_workspace_has_its_own_queue(session, rex):
    waiting(session, "a")
    assert load_queue(builders.workspace("other"), rex).groups == ()


def test_three_queries_however_long(session, rex, django_assert_num_queries):
    for number in range(20):
        waiting(session, f"w{number}")
        waiting(session, f"d{number}", status="APPROVED", decided_at=timezone.now())
    with django_assert_num_queries(3):
        load_queue(session.workspace, rex)
