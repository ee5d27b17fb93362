from __future__ import annotations

import gc
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from django.conf import settings

from controlplane.api import throttling
from controlplane.models import Role
from controlplane.pages import sign_in
from controlplane.shared import tokens
from sessions.gate import snapshot_cache
from tests import builders
from tests.live import LiveServer
from tests.traces import ledger_flush

# Tests in a browser need requirements/dev.txt, which `make e2e` and `make agents` install.
collect_ignore = [] if find_spec("playwright") else ["e2e", "agents"]

__all__ = ["ledger_flush"]  # the import lets tests that commit empty the insert-only tables


def pytest_report_header() -> str:
    return f"left out, playwright is not installed: {', '.join(collect_ignore)}" if collect_ignore else ""


def pytest_configure():
    """Leave out what every test would pay for.

    People sign in often here, and a slow hash guards nothing. Each test client builds the middleware anew, which reads
    all static files unless WhiteNoise looks for them when they are asked for.
    """
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.WHITENOISE_AUTOREFRESH = True
    settings.LEDGER_ANCHORS_FILE = Path(tempfile.mkdtemp()) / "ledger_anchors.json"  # not the developer's own


def pytest_sessionstart():
    gc.disable()


def pytest_collection_finish():
    """Let no garbage collection look at 12,000 tests and all that they import: none of it goes before the end."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def _forget_what_the_process_remembers():
    """Tests roll back, so ids and revisions occur again: nothing may be remembered from one to the next."""
    snapshot_cache.forget_all()
    tokens._cached_bearers.clear()
    throttling.request_buckets.forget_all()
    sign_in.guess_buckets.forget_all()
    settings.LEDGER_ANCHORS_FILE.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def running_server(tmp_path_factory):
    """One real server for all tests that neither stop nor kill it; each makes a workspace of its own."""
    live = LiveServer(tmp_path_factory.mktemp("live-server"))
    live.start()
    yield live
    live.close()


@pytest.fixture
def acme(db):
    return builders.workspace("acme")


@pytest.fixture
def ada(acme):
    return builders.person("ada", acme, Role.ADMIN)


@pytest.fixture
def rex(acme):
    return builders.person("rex", acme, Role.REVIEWER)


@pytest.fixture
def ivy(acme):
    return builders.person("ivy", acme, Role.AUDITOR)


@pytest.fixture
def max_(db):
    """The stranger: signed in, member of another workspace only."""
    return builders.person("max", builders.workspace("elsewhere"), Role.ADMIN)


@pytest.fixture
def agent(acme):
    return builders.speaker(acme, "agent")


@pytest.fixture
def at_work(acme, agent):
    """The agent, which has selected INT-001 (scope `src/auth/**`) in session s-1."""
    builders.intent(acme)
    assert agent.select("INT-001")["success"]
    return agent


@pytest.fixture
def reviewer(acme):
    return builders.speaker(acme, "reviewer")


@pytest.fixture
def admin(acme):
    return builders.speaker(acme, "admin")
