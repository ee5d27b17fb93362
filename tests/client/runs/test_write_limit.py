"""Commands that the gate allows as they are, under Landlock: they write in the repository and nowhere else."""

from __future__ import annotations

import json
import os
import tempfile
import urllib.request
from pathlib import Path

import pytest

from controlplane.client.runs.probe import read_landlock_abi
from tests.client.machine import Machine
from tests.client.runs.conftest import skip_uncontained
from tests.client.runs.test_contained_call import NUMBERS, ask


@pytest.fixture(scope="module")
def tokens(running_server):
    return running_server.workspace("limited")


@pytest.fixture
def limited(tmp_path, running_server, tokens):
    if read_landlock_abi() < 3:
        skip_uncontained("the kernel has no Landlock")
    machine = Machine(tmp_path)
    with urllib.request.urlopen(f"{running_server.url}/client/icp.py") as answer:
        machine.file.write_bytes(answer.read())
    words = ["connect", "claude-code", "--landlock", "--url", running_server.url]
    done = machine.icp(*words, ICP_TOKEN=tokens["agent"])
    assert done.returncode == 0, done.stderr
    machine.session = f"limited-{next(NUMBERS)}"
    running_server.select(tokens["agent"], machine.session)
    (machine.repository / "src/auth").mkdir(parents=True)
    yield machine
    running_server.api(tokens["agent"], "POST", f"sessions/{machine.session}/end")


def rewrite(machine: Machine, command: str) -> str:
    return str(ask(machine, command)[0]["updatedInput"]["command"])


def test_an_allowed_write_is_made_and_recorded(limited, running_server, tokens):
    command = rewrite(limited, "echo 'x y' > src/auth/a.ts")
    assert limited.run("/bin/sh", "-c", command).returncode == 0
    assert (limited.repository / "src/auth/a.ts").read_text() == "x y\n"
    payload = {
        "session_id": limited.session, "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "t-1",
        "cwd": str(limited.repository), "tool_input": {"command": command},
        "tool_response": {"stdout": "", "interrupted": False},
    }  # fmt: skip
    limited.hook("claude-code", "PostToolUse", payload)
    _, listed = running_server.api(tokens["reviewer"], "GET", "traces?path=src/auth/a.ts")
    assert len(listed["results"]) == 1


def test_a_mistake_of_the_analysis_writes_nowhere_else(limited):
    # Not below /tmp, where every command may write.
    with tempfile.TemporaryDirectory(dir="/srv" if os.access("/srv", os.W_OK) else Path.home()) as outside:
        mistake = f"'echo x >{outside}/elsewhere; echo y >src/auth/b'"
        done = limited.run("/bin/sh", "-c", rewrite(limited, "ls").replace("'ls'", mistake))
        assert "Permission denied" in done.stderr
        assert list(Path(outside).iterdir()) == []
    assert (limited.repository / "src/auth/b").exists()


def test_a_second_hook_leaves_the_limited_call_as_it_is(limited):
    assert ask(limited, rewrite(limited, "ls"))[0] == {}


def test_a_limited_form_opens_nothing(limited):
    """The gate is asked about the command in it; with anything else around it, about all of it."""
    inner = rewrite(limited, "ls").replace("'ls'", "'touch docs/x'")
    assert ask(limited, inner)[0]["permissionDecision"] == "deny"
    assert ask(limited, rewrite(limited, "ls") + "; touch docs/x")[0]["permissionDecision"] == "deny"


def test_what_is_refused_stays_refused(limited):
    assert ask(limited, "touch docs/x")[0]["permissionDecision"] == "deny"


def test_the_doctor_says_so(limited):
    assert "allows as they are write in the repository, caches and /tmp only" in limited.icp("doctor").stdout
    connections = limited.config / "connections.json"
    saved = json.loads(connections.read_text())
    for connection in saved.values():
        connection.pop("landlock")
    connections.write_text(json.dumps(saved))
    assert "write wherever you may" in limited.icp("doctor").stdout
