"""Approvals over REST: deciding, grants, first wins, nobody for themselves, time."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from intents.models import Intent
from sessions.approvals import grants, lifecycle
from sessions.approvals.decision_input import Decider
from sessions.errors import AlreadyExtendedError
from sessions.models import AgentSession, Approval, ApprovalGrant
from tests import builders
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db

OUTSIDE = {"file_path": "docs/design.md", "content": "# new\n"}


def ask(agent, **call):
    return agent.gate("Write", **(call or OUTSIDE))["approval"]["id"]


def decide(speaker, approval, action="approve", **more):
    return speaker.post(f"approvals/{approval}/decide", {"action": action, **more})


def test_an_approved_call_runs_once(at_work, reviewer):
    approval = ask(at_work)
    assert decide(reviewer, approval).status_code == 200
    answer = at_work.gate("Write", tool_use_id="t-1", **OUTSIDE)
    assert answer["decision"] == "allow"
    assert answer["override"]["approval_id"] == approval
    again = at_work.gate("Write", tool_use_id="t-1", **OUTSIDE)
    assert again["decision_id"] == answer["decision_id"]
    later = at_work.gate("Write", tool_use_id="t-2", **OUTSIDE)
    assert (later["decision"], later["approval"]["id"] == approval) == ("ask", False)


def test_an_approval_covers_no_other_input(at_work, reviewer):
    decide(reviewer, ask(at_work))
    assert at_work.gate("Write", **OUTSIDE | {"content": "other"})["decision"] == "ask"


def test_a_grant_for_the_session_covers_the_paths_it_names_and_no_others(at_work, reviewer):
    approval = ask(at_work)
    answer = decide(reviewer, approval, grant="session", patterns=["docs/*.md"])
    assert answer.json()["grant"] == "session"
    assert at_work.gate("Write", file_path="docs/other.md", content="x")["decision"] == "allow"
    assert at_work.gate("Write", file_path="docs/deep/other.md", content="x")["decision"] == "ask"


def test_a_grant_in_minutes_ends(at_work, reviewer):
    decide(reviewer, ask(at_work), grant="session", minutes=5)
    assert at_work.gate("Write", **OUTSIDE)["decision"] == "allow"
    ApprovalGrant.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    AgentSession.objects.update(revision=99)
    assert at_work.gate("Write", **OUTSIDE)["decision"] == "ask"


def test_widening_the_scope_is_a_new_revision_of_the_intent(at_work, reviewer):
    approval = ask(at_work)
    assert decide(reviewer, approval, grant="scope").status_code == 200
    intent = Intent.objects.get()
    assert (intent.owned_scope, intent.version) == (["src/auth/**", "docs/design.md"], 3)
    answer = at_work.gate("Write", **OUTSIDE | {"content": "other"})
    assert (answer["decision"], answer["override"]) == ("allow", None)


def test_patterns_that_would_not_let_the_call_through_are_refused(at_work, reviewer):
    answer = decide(reviewer, ask(at_work), grant="session", patterns=["src/**"])
    assert answer.status_code == 400
    assert "docs/design.md" in answer.json()["error"]
    assert Approval.objects.get().status == "PENDING"


@pytest.mark.parametrize("pattern", ["docs/", "../x", "/etc/passwd", "[", "!docs/**"])
def test_unreadable_patterns_are_refused(at_work, reviewer, pattern):
    assert decide(reviewer, ask(at_work), grant="session", patterns=[pattern]).status_code == 400


def test_a_rejected_call_stays_refused_with_the_reviewers_words(at_work, reviewer):
    decide(reviewer, ask(at_work), "reject", comment="Not yours: leave it to INT-003.")
    answer = at_work.gate("Write", **OUTSIDE)
    assert (answer["decision"], answer["approval"]) == ("deny", None)
    assert "Not yours: leave it to INT-003." in answer["error"]
    assert Approval.objects.count() == 1


def test_the_first_decision_wins_and_the_second_is_told(acme, at_work, reviewer):
    approval = ask(at_work)
    assert decide(reviewer, approval).status_code == 200
    late = decide(builders.speaker(acme, "admin"), approval, "reject")
    assert (late.status_code, late.json()["error_type"]) == (409, "ALREADY_DECIDED")
    assert "reviewer token was first" in late.json()["error"]


def test_nobody_decides_for_their_own_session(acme, rex, ada):
    builders.intent(acme)
    mine = builders.speaker(acme, "admin", acts_for=ada)
    mine.select("INT-001")
    approval = ask(mine)
    assert decide(mine, approval).status_code == 403
    same_person = builders.speaker(acme, "reviewer", acts_for=ada)
    assert decide(same_person, approval).status_code == 403
    assert decide(builders.speaker(acme, "reviewer", acts_for=rex), approval).status_code == 200


def test_an_agents_token_decides_nothing(acme, at_work):
    assert decide(builders.speaker(acme), ask(at_work)).status_code in {403, 404}


def test_an_overdue_approval_is_a_timeout_and_not_a_no(at_work, reviewer):
    approval = ask(at_work)
    Approval.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    late = decide(reviewer, approval)
    assert (late.status_code, late.json()["approval_status"]) == (409, "EXPIRED")
    assert Approval.objects.get().decider == ""
    assert at_work.gate("Write", **OUTSIDE)["decision"] == "ask"
    assert Approval.objects.count() == 2


def test_the_background_loop_expires_what_is_due(at_work):
    ask(at_work)
    assert lifecycle.expire_overdue() == 0
    Approval.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert lifecycle.expire_overdue() == 1
    assert LedgerEntry.objects.filter(kind="approval", outcome="EXPIRED").count() == 1


def test_an_ended_sessions_questions_are_cancelled(at_work, reviewer):
    approval = ask(at_work)
    at_work.post("sessions/s-1/end")
    assert reviewer.get(f"approvals/{approval}").json()["status"] == "CANCELLED"


def test_a_revoked_grant_covers_nothing(at_work, reviewer):
    decide(reviewer, ask(at_work), grant="session")
    assert at_work.gate("Write", **OUTSIDE)["decision"] == "allow"
    assert grants.revoke(ApprovalGrant.objects.select_related("session", "approval").get(), "person:1:rex")
    assert at_work.gate("Write", **OUTSIDE)["decision"] == "ask"


def test_a_scope_request_is_an_approval_that_widens(at_work, reviewer):
    asked = at_work.post(
        "sessions/s-1/request-scope", {"patterns": ["docs/**"], "reason": "The guide is stale."}
    )
    assert asked.status_code == 201, asked.content
    approval = asked.json()
    assert (approval["kind"], approval["status"]) == ("scope", "PENDING")
    again = at_work.post("sessions/s-1/request-scope", {"patterns": ["docs/**"], "reason": "Please."})
    assert again.json()["id"] == approval["id"]
    assert decide(reviewer, approval["id"]).status_code == 200
    assert at_work.gate("Write", **OUTSIDE)["decision"] == "allow"


@pytest.mark.parametrize("patterns", [["/etc/**"], ["../x"], ["docs/"], []])
def test_a_scope_request_with_impossible_patterns_is_refused(at_work, patterns):
    answer = at_work.post("sessions/s-1/request-scope", {"patterns": patterns, "reason": "x"})
    assert answer.status_code == 400


def test_completing_waits_for_a_human_unless_policy_trusts_the_agent(acme, at_work, reviewer):
    answer = at_work.post("sessions/s-1/complete-intent", {"verification_notes": "All tests pass."}).json()
    assert answer["completed"] is False
    decide(reviewer, answer["approval"]["id"])
    assert Intent.objects.get().status == "COMPLETED"
    later = at_work.gate("Write", file_path="src/auth/a.ts", content="x")
    assert (later["error_type"], later["reason"]) == ("MISSING_OR_INVALID_INTENT", "completed")


def test_an_agent_may_complete_where_policy_says_so(acme, at_work):
    acme.refresh_from_db()
    acme.policy = {"completion": "agent"}
    acme.revision += 1
    acme.save()
    answer = at_work.post("sessions/s-1/complete-intent", {"verification_notes": "Done."}).json()
    assert answer == {"completed": True, "approval": None}


def test_the_list_filters_by_status_and_pages(at_work, reviewer):
    for number in range(3):
        ask(at_work, file_path=f"docs/{number}.md", content="x")
    first = reviewer.get("approvals", status="PENDING", limit=2).json()
    rest = reviewer.get("approvals", status="PENDING", limit=2, cursor=first["next"]).json()
    assert [len(first["results"]), len(rest["results"]), rest["next"]] == [2, 1, None]
    assert reviewer.get("approvals", status="nonsense").status_code == 400


def test_an_agent_sees_only_its_own_approvals(acme, at_work):
    approval = ask(at_work)
    other = builders.speaker(acme)
    assert other.get(f"approvals/{approval}").status_code == 404
    assert other.get("approvals").json()["results"] == []
    assert at_work.get(f"approvals/{approval}").json()["id"] == approval


def test_five_more_minutes_are_given_once(at_work, rex):
    approval = Approval.objects.select_related("session__token").get(public_id=ask(at_work))
    decider = Decider("Rex", user_id=rex.pk, actor="person")
    before = approval.expires_at
    assert lifecycle.extend(approval, decider).expires_at - before == timedelta(minutes=5)
    with pytest.raises(AlreadyExtendedError, match="already extended"):
        lifecycle.extend(approval, decider)


def test_every_change_of_an_approval_is_in_the_ledger(at_work, reviewer):
    decide(reviewer, ask(at_work))
    outcomes = LedgerEntry.objects.filter(kind="approval").order_by("pk").values_list("outcome", flat=True)
    assert list(outcomes) == ["PENDING", "APPROVED"]


def test_a_command_that_cannot_be_known_may_be_granted_for_the_session_as_it_stands(at_work, reviewer):
    command = {"command": "python3 scripts/build.py"}
    asked = at_work.gate("Bash", **command)
    assert asked["reason"] == "unknown_target"
    assert decide(reviewer, asked["approval"]["id"], grant="scope").status_code == 400
    assert decide(reviewer, asked["approval"]["id"], grant="session").status_code == 200
    assert [at_work.gate("Bash", **command)["decision"] for _ in range(2)] == ["allow", "allow"]
    assert at_work.gate("Bash", command="python3 scripts/other.py")["decision"] == "ask"


def test_approving_a_completion_that_is_no_longer_possible_says_so(at_work, reviewer):
    asked = at_work.post("sessions/s-1/complete-intent", {"verification_notes": "Done."}).json()["approval"]
    Intent.objects.update(status="ABANDONED")
    answer = decide(reviewer, asked["id"])
    assert (answer.status_code, answer.json()["error_type"]) == (409, "INTENT_CHANGED")
    assert Approval.objects.get().status == "PENDING"


def test_the_approval_names_the_decision_that_opened_it(at_work):
    answer = at_work.gate("Write", **OUTSIDE)
    assert Approval.objects.get().decision_id == answer["decision_id"]


def test_a_call_whose_approval_timed_out_while_it_was_held_is_not_asked_anew(at_work):
    approval = ask(at_work)
    Approval.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    body = {"session_id": "s-1", "tool": "Write", "input": OUTSIDE, "wait_seconds": 5}
    answer = at_work.post("gate", body, headers={"X-ICP-Resumed": approval}).json()
    assert (answer["decision"], answer["approval"]["id"], answer["approval"]["status"]) == (
        "ask", approval, "EXPIRED",
    )  # fmt: skip
    assert Approval.objects.count() == 1


def test_a_grant_for_once_is_spent_by_the_report_of_the_call(at_work, reviewer):
    decide(reviewer, ask(at_work))
    assert at_work.gate("Write", tool_use_id="t-1", **OUTSIDE)["decision"] == "allow"
    assert at_work.gate("Write", tool_use_id="t-1", **OUTSIDE)["decision"] == "allow"  # a retry
    at_work.post("sessions/s-1/traces", {"path": "docs/design.md", "content": "x", "tool_use_id": "t-1"})
    assert at_work.gate("Write", tool_use_id="t-1", **OUTSIDE)["decision"] == "ask"


def test_a_grant_for_once_is_spent_ten_minutes_after_its_first_use(at_work, reviewer):
    decide(reviewer, ask(at_work))
    assert at_work.gate("Write", tool_use_id="t-1", **OUTSIDE)["decision"] == "allow"
    grant = ApprovalGrant.objects.get()
    assert grant.ends_at == grant.used_at + timedelta(minutes=10)
    ApprovalGrant.objects.update(used_at=timezone.now() - timedelta(minutes=11))
    AgentSession.objects.apply_change()
    assert at_work.gate("Write", tool_use_id="t-1", **OUTSIDE)["decision"] == "ask"
