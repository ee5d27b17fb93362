"""Builders for cards: approvals read again, and decisions on them."""

from __future__ import annotations

from sessions.approvals import lifecycle
from sessions.approvals.decision_input import Decider, DecisionInput
from sessions.models import Approval


def fresh(approval) -> Approval:
    return Approval.objects.select_related("workspace", "session__token").get(pk=approval.pk)


def decide(approval, user, action="approve", **choice):
    decider = Decider(user.first_name, user_id=user.pk, actor="test")
    return lifecycle.decide(fresh(approval), decider, DecisionInput(action, **choice))
