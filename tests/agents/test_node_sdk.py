"""The SDK for Node.js, as it is served, in agents of the real libraries: twice, so that a run ends its session."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from pathlib import Path

import pytest

from tests.agents import clients

pytestmark = pytest.mark.agents
DRIVER = Path(__file__).with_name("node_sdk.mjs")
LIBRARIES = ["plain", "ai-sdk", "openai-agents", "mastra"]


@pytest.fixture(scope="module")
def sdk(server, tmp_path_factory):
    file = tmp_path_factory.mktemp("sdk") / "icp_sdk.ts"
    with urllib.request.urlopen(f"{server.url}/client/icp_sdk.ts") as answer:
        file.write_bytes(answer.read())
    return file


def drive(library, sdk, **env):
    words = [clients.node(), "--no-warnings", str(DRIVER), library, str(sdk), str(clients.FOLDER)]
    env |= {"PATH": clients.path(), "HOME": env["ROOT"]}
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_agent_in_node_is_held_to_its_intent_and_recorded(server, sdk, tmp_path, library):
    tokens = server.workspace(f"node-{library}")
    for _ in range(2):
        told = drive(library, sdk, ICP_URL=server.url, ICP_TOKEN=tokens["agent"], ROOT=str(tmp_path))
        assert told[0] == "saved"
        assert "Scope Violation: INT-001" in told[1]
    assert not (tmp_path / "docs").exists()
    _, traces = server.api(tokens["reviewer"], "GET", "traces?path=src/auth/a.ts")
    assert len(traces["results"]) == 2


def test_without_a_server_nothing_runs(sdk, tmp_path):
    words = [clients.node(), "--no-warnings", "--input-type=module", "-e", UNREACHABLE, str(sdk)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    verdict, text = json.loads(done.stdout)
    assert verdict == "deny"
    assert "must not run" in text


UNREACHABLE = """
const { ControlPlane } = await import(process.argv[1])
const decision = await new ControlPlane("http://127.0.0.1:9", "icp_x", { agent: "a" }).check("write_file", {})
console.log(JSON.stringify([decision.verdict, decision.text]))
"""
