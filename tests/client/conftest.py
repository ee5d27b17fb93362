from __future__ import annotations

import urllib.request
from pathlib import Path

import pytest

from controlplane.client.agents import CLIENTS
from tests.client.machine import Machine, Stub

HERE = Path(__file__).parent
# A client with JSON and one with TOML; `make test-deep` adds the others.
IN_EVERY_RUN = {"claude-code", "codex"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        values = item.callspec.params if hasattr(item, "callspec") else {}
        if HERE in item.path.parents and values.get("agent") in set(CLIENTS) - IN_EVERY_RUN:
            item.add_marker(pytest.mark.deep)


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


@pytest.fixture(scope="session")
def server(running_server):
    """The product's own server, for those that need more than a stub."""
    return running_server


@pytest.fixture
def connected(tmp_path, server, tokens):
    """A machine that has downloaded the program, and connected Claude Code. `tokens` are the module's."""
    machine = Machine(tmp_path)
    with urllib.request.urlopen(f"{server.url}/client/icp.py") as answer:
        machine.file.write_bytes(answer.read())
    done = machine.icp("connect", "claude-code", "--url", server.url, ICP_TOKEN=tokens["agent"])
    assert done.returncode == 0, done.stderr
    return machine


@pytest.fixture
def stub():
    with Stub() as server:
        yield server
