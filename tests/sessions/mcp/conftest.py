"""One live server for the tests that speak to it over the wire."""

from __future__ import annotations

import itertools

import pytest

from tests.live import LiveServer

NUMBERS = itertools.count()


@pytest.fixture(scope="package")
def server(tmp_path_factory):
    live = LiveServer(tmp_path_factory.mktemp("mcp"))
    live.start()
    yield live
    live.close()


@pytest.fixture
def tokens(server):
    return server.workspace(f"mcp-{next(NUMBERS)}")


@pytest.fixture(scope="package")
def shared(server):
    """For tests that leave nothing behind."""
    return server.workspace("shared")
