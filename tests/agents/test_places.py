"""Each real agent in each place where it may be started, connected by the user's own entry."""

from __future__ import annotations

import pytest

from tests.agents import clients
from tests.agents.places import PLACES, PlacedWalk
from tests.agents.walk import TEXT

pytestmark = pytest.mark.agents
AGENTS = [agent for agent in clients.AGENTS if agent != "cursor"]  # whose SDK is told its own folder


@pytest.mark.parametrize("place", list(PLACES))
@pytest.mark.parametrize("agent", AGENTS)
def test_it_is_held_to_its_intent_wherever_it_is_started(server, tmp_path, agent, place):
    walk = PlacedWalk(
        tmp_path, server, agent, server.workspace(f"{agent}-{place}".replace(" ", "-")), place, "--user"
    )
    assert "FAIL" not in walk.doctor, walk.doctor
    walk.start(walk.steps())
    for step in ("before the handshake", "around it by the shell"):
        assert "You must cite a valid active Intent ID." in walk.told[step], walk.output
    assert not walk.there("src/auth/early.ts")
    assert (walk.machine.place / "src/auth/a.ts").read_text() == TEXT, walk.told["in scope"]
    assert (walk.machine.place / "src/auth/sh.ts").read_text() == "x\n", walk.told["in scope by the shell"]
    for step in ("out of scope", "out of scope by the shell"):
        assert (
            f"Scope Violation: INT-001 is not authorized to edit [{walk.inside}docs/design.md]"
            in walk.told[step]
        )
    assert not walk.there("docs/design.md")
    assert f"{walk.inside}src/auth/a.ts" in walk.traced()
