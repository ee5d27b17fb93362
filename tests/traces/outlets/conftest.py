from __future__ import annotations

import pytest

from tests.traces.outlets.receiver import listening


@pytest.fixture
def receiver(settings):
    settings.PRIVATE_TARGETS = True
    server = listening()
    yield server.receiver
    server.shutdown()
    server.server_close()
