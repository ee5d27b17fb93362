"""`icp.py wait`: an agent is woken by a person's decision, and the gate lets it wait."""

from __future__ import annotations

import json
import subprocess

import pytest

WRITE = {"tool_name": "Write", "tool_input": {"file_path": "docs/design.md", "content": "x"}}


@pytest.fixture(scope="module")
def tokens(server):
    return server.workspace("waiting")


@pytest.fixture
def refused(connected, server, tokens, request):
    """The approval that a refused write of the connected agent waits for."""
    said = ask(connected, WRITE, session_id=request.node.name)["permissionDecisionReason"]
    _, found = server.api(tokens["reviewer"], "GET", "approvals?status=PENDING")
    return found["results"][0]["id"], said


@pytest.fixture
def decide(server, tokens):
    def decide(approval, action):
        body = {"action": action, "comment": "Not this file.", "grant": "once"}
        status, answer = server.api(tokens["reviewer"], "POST", f"approvals/{approval}/decide", body)
        assert status == 200, answer

    return decide


def ask(machine, call, session_id="s-1"):
    payload = {"session_id": session_id, "cwd": str(machine.repository), **call}
    done = machine.hook("claude-code", payload=payload)
    return json.loads(done.stdout).get("hookSpecificOutput", {})


def start_waiting(machine, approval):
    """The command that the refusal names, as a shell in the background runs it."""
    return subprocess.Popen(
        [str(machine.config / "bin" / "icp.py"), "wait", approval],
        cwd=machine.repository, env={"HOME": str(machine.home)}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("action", "end"),
    [
        ("approve", (0, "Next: send the same call again, unchanged: it runs.")),
        ("reject", (1, "Next: do not send it again; find another way or stop.")),
    ],
)
def test_it_ends_with_the_decision_and_says_it(connected, decide, refused, action, end):
    approval, _ = refused
    waiting = start_waiting(connected, approval)
    decide(approval, action)
    said, _ = waiting.communicate(timeout=60)
    assert (waiting.returncode, said[said.index("Next:") :].strip()) == end


def test_the_refusal_names_the_command_and_the_gate_lets_it_run(connected, refused):
    approval, said = refused
    command = f"{connected.config}/bin/icp.py wait {approval}"
    assert f"`{command}` in the background" in said
    call = {"tool_name": "Bash", "tool_input": {"command": command, "run_in_background": True}}
    assert ask(connected, call) == {}
    call["tool_input"]["command"] = f"{command}; echo x > docs/design.md"
    assert "permissionDecisionReason" in ask(connected, call)


def test_an_unknown_approval_is_told_at_once(connected):
    done = connected.run(str(connected.config / "bin" / "icp.py"), "wait", "0" * 32)
    assert (done.returncode, "There is no approval" in done.stdout) == (2, True)
