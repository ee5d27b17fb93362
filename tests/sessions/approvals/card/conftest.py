"""Fixtures of the card: an agent at work, and the card that a reviewer sees."""

from __future__ import annotations

import pytest

from controlplane.models import Role
from sessions.approvals.card.build import CardViewer, build_card
from tests import builders
from tests.sessions.approvals.card.builders import fresh


@pytest.fixture
def at_work(acme, agent):
    """Ada's agent works on INT-001, which owns `src/auth/**`."""
    builders.intent(acme)
    agent.select("INT-001")
    return agent


@pytest.fixture
def drawn(rex):
    def draw(approval, role=Role.REVIEWER, **more):
        return build_card(fresh(approval), CardViewer(rex, role), with_context=True, **more)

    return draw
