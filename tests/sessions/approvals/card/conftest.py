"""Fixtures of the card: an agent at work, and the card that a reviewer sees."""

from __future__ import annotations

import pytest

from controlplane.models import Role
from sessions.approvals.card.build import CardViewer, build_card
from tests.sessions.approvals.card.builders import fresh


@pytest.fixture
def drawn(rex):
    def draw(approval, role=Role.REVIEWER, **more):
        return build_card(fresh(approval), CardViewer(rex, role), with_context=True, **more)

    return draw
