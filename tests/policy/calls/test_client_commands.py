"""Waiting for a decision is safe by the installed client alone, wherever an agent may copy its name."""

from __future__ import annotations

import pytest

from controlplane.policy.calls.targets import classify
from controlplane.policy.model import Policy, ToolCall, ToolClass

PROGRAM = "/home/ada/.config/icp/bin/icp.py"
APPROVAL = "0123456789abcdef" * 2
ROOT = "/home/ada/acme"


def classify_command(command, program=PROGRAM, **fields):
    call = ToolCall("Bash", {"command": command, **fields}, root=ROOT, client_program=program)
    return classify(call, Policy())


def test_waiting_for_an_approval_is_safe():
    assert classify_command(f"{PROGRAM} wait {APPROVAL}") is ToolClass.SAFE


@pytest.mark.parametrize(
    "command",
    [
        f"{PROGRAM} land {APPROVAL}",
        f"{PROGRAM} disconnect claude-code",
        f"{PROGRAM} wait {APPROVAL}; rm -rf src",
        f"{PROGRAM} wait {APPROVAL} > src/a.py",
        f"{PROGRAM} wait $(touch src/a.py)",
        f"{PROGRAM} wait {APPROVAL}\nrm -rf src",
        f"{PROGRAM} wait {APPROVAL[:-1]}",
        f"./icp.py wait {APPROVAL}",
        f"HOME=/tmp {PROGRAM} wait {APPROVAL}",
    ],
)
def test_nothing_else_is(command):
    assert classify_command(command) is ToolClass.DESTRUCTIVE


@pytest.mark.parametrize(
    "program",
    [
        f"{ROOT}/src/.config/icp/bin/icp.py",  # an agent may write there
        "/home/ada/other/../acme/.config/icp/bin/icp.py",
        "/home/ada/.config/icp/bin/evil.py",
        "/home/$(id)/.config/icp/bin/icp.py",
        "home/ada/.config/icp/bin/icp.py",
    ],
)
def test_the_program_lies_where_connect_puts_it(program):
    assert classify_command(f"{program} wait {APPROVAL}", program) is ToolClass.DESTRUCTIVE


def test_a_call_without_a_root_names_no_program():
    call = ToolCall("Bash", {"command": f"{PROGRAM} wait {APPROVAL}"}, client_program=PROGRAM)
    assert classify(call, Policy()) is ToolClass.DESTRUCTIVE


def test_the_settings_of_the_call_still_count():
    command = f"{PROGRAM} wait {APPROVAL}"
    assert classify_command(command, env={"LD_PRELOAD": "/tmp/a.so"}) is ToolClass.DESTRUCTIVE
