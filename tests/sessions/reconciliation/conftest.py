from __future__ import annotations

import pytest

from tests import builders
from tests.sessions.reconciliation.calls import write


@pytest.fixture
def working(acme, agent):
    builders.intent(acme)
    agent.select("INT-001")
    write(agent, "src/auth/a.ts", "one\n")
    return agent
