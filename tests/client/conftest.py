from __future__ import annotations

import pytest

from tests.client.machine import Machine, Stub
from tests.live import LiveServer


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The product's own server, for those that need more than a stub."""
    live = LiveServer(tmp_path_factory.mktemp("server"))
    live.start()
    yield live
    live.close()


@pytest.fixture
def stub():
    with Stub() as server:
        yield server
