"""Real agents, a model that follows a script, a real server, and for one test a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.agents import clients
from tests.agents.walk import Walk
from tests.e2e.conftest import browser, place, sign_in
from tests.live import LiveServer

__all__ = ["browser", "place", "sign_in"]


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[LiveServer]:
    if lacking := clients.missing():
        pytest.fail(lacking)
    live = LiveServer(tmp_path_factory.mktemp("live"))
    live.start()
    yield live
    live.close()


@pytest.fixture(scope="session", params=list(clients.AGENTS))
def walked(request, server, tmp_path_factory) -> Walk:
    """One run of the agent through all scenes; the tests look at what came of it."""
    walk = Walk(
        tmp_path_factory.mktemp("machine"), server, request.param, server.workspace(f"walk-{request.param}")
    )
    walk.walk()
    return walk
