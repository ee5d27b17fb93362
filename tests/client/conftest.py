from __future__ import annotations

import pytest

from tests.client.machine import Machine, Stub


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


@pytest.fixture
def stub():
    with Stub() as server:
        yield server
