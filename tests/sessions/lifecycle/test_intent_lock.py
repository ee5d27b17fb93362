"""Who holds an intent, and when a silent session loses it and gets it back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.policy.model import Policy
from intents.models import Intent
from sessions.lifecycle.intent_lock import find_holder, reclaim_intent
from sessions.models import AgentSession
from tests import builders

pytestmark = pytest.mark.django_db

POLICY = Policy(session_idle_minutes=30)


@pytest.fixture
def holder(acme, agent):
    builders.intent(acme)
    agent.select("INT-001", "s-1")
    return AgentSession.objects.get(session_id="s-1")


@pytest.fixture
def other(agent):
    agent.post("sessions", {"session_id": "s-2"})
    return AgentSession.objects.get(session_id="s-2")


def silence(session):
    AgentSession.objects.filter(pk=session.pk).touch(timezone.now() - timedelta(minutes=31))


def test_a_live_session_holds_its_intent_against_others_only(holder, other):
    intent = Intent.objects.get()
    assert find_holder(intent, POLICY, exclude=other) == holder
    assert find_holder(intent, POLICY, exclude=holder) is None


def test_nobody_holds_an_intent_that_policy_lets_sessions_share(holder, other):
    shared = replace(POLICY, shared_intents="allow")
    assert find_holder(Intent.objects.get(), shared, exclude=other) is None


def test_a_silent_session_holds_nothing(holder, other):
    silence(holder)
    assert find_holder(Intent.objects.get(), POLICY, exclude=other) is None


def test_an_intent_is_reclaimed_once_it_is_free(holder, other, agent):
    silence(holder)
    agent.select("INT-001", "s-2")
    holder.refresh_from_db()
    assert holder.intent is None
    assert not reclaim_intent(holder, POLICY)
    silence(AgentSession.objects.get(session_id="s-2"))
    assert reclaim_intent(holder, POLICY)
    assert holder.intent == Intent.objects.get()
    assert AgentSession.objects.get(session_id="s-2").intent is None
