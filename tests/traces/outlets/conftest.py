from __future__ import annotations

import pytest

from controlplane.shared.target_networks import PRIVATE
from tests.traces.outlets.receiver import listening


@pytest.fixture
def receiver(settings):
    settings.PRIVATE_TARGETS = PRIVATE
    server = listening()
    yield server.receiver
    server.shutdown()
    server.server_close()
