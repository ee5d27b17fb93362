from __future__ import annotations

import urllib.request

import pytest

from tests.client.machine import Machine, Stub


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
