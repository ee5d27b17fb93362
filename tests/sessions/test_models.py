"""The QuerySets of sessions and grants: what they find, and that their writes raise the revision."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.policy.model import Policy
from intents.models import Intent
from sessions.models import AgentSession, Approval, ApprovalGrant
from tests import builders
from tests.sessions.approvals.approval_builders import edit

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(acme, agent):
    builders.intent(acme)
    agent.select("INT-001")
    return AgentSession.objects.get()


@pytest.fixture
def grant(session, agent):
    edit(agent)
    approval = Approval.objects.get()
    return ApprovalGrant.objects.give(
        approval, kind="once", error_type="SCOPE_VIOLATION", digest=approval.digest
    )


def revision():
    return AgentSession.objects.get().revision


def rows(session):
    return AgentSession.objects.filter(pk=session.pk)


def test_a_change_raises_the_revision_once(session):
    assert rows(session).apply_change(frozen=True) == 1
    assert revision() == session.revision + 1


def test_a_change_that_was_made_before_changes_nothing(session):
    assert rows(session).filter(frozen=True).apply_change(frozen=False) == 0
    assert revision() == session.revision


def test_a_touch_leaves_the_revision_and_takes_metadata_only(session):
    rows(session).touch(timezone.now(), agent_version="2.0")
    assert revision() == session.revision
    with pytest.raises(ValueError, match="frozen"):
        rows(session).touch(timezone.now(), frozen=True)


def test_live_sessions_have_not_ended_and_were_heard_of(session):
    policy, now = Policy(session_idle_minutes=30), timezone.now()
    assert AgentSession.objects.live(policy, now).exists()
    assert not AgentSession.objects.live(policy, now + timedelta(minutes=31)).exists()
    rows(session).apply_change(state="ENDED")
    assert not AgentSession.objects.live(policy, now).exists()
    assert not AgentSession.objects.not_ended().exists()


def test_who_holds_an_intent_is_found_while_silent(session):
    assert list(AgentSession.objects.holding(Intent.objects.get())) == [session]


def test_a_grant_is_given_spent_and_revoked_with_a_revision_each(grant):
    given = revision()
    assert ApprovalGrant.objects.spend(grant, "t-1")
    assert not ApprovalGrant.objects.spend(grant, "t-2")
    assert revision() == given + 1
    assert ApprovalGrant.objects.revoke(grant)
    assert not ApprovalGrant.objects.revoke(grant)
    assert revision() == given + 2


def test_a_revoked_grant_cannot_be_spent(grant):
    ApprovalGrant.objects.revoke(grant)
    assert not ApprovalGrant.objects.spend(grant, "t-1")


def test_live_grants_are_neither_revoked_nor_expired(grant):
    now = timezone.now()
    assert ApprovalGrant.objects.live(now).exists()
    ApprovalGrant.objects.filter(pk=grant.pk).update(expires_at=now)
    assert not ApprovalGrant.objects.live(now).exists()


def test_overdue_approvals_are_pending_and_late(grant):
    now = timezone.now()
    assert Approval.objects.pending().exists()
    assert not Approval.objects.overdue(now).exists()
    assert Approval.objects.overdue(now + timedelta(days=1)).exists()


def test_a_late_agent_name_raises_the_revision_and_a_version_does_not(acme, agent):
    agent.post("sessions", {"session_id": "s-9"})
    opened = AgentSession.objects.get(session_id="s-9").revision
    agent.post("sessions", {"session_id": "s-9", "agent": {"version": "1.0"}})
    assert AgentSession.objects.get(session_id="s-9").revision == opened
    agent.post("sessions", {"session_id": "s-9", "agent": {"name": "codex"}})
    assert AgentSession.objects.get(session_id="s-9").revision == opened + 1
