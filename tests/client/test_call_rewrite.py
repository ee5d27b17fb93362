"""Where the client finds the command of a call, in each form in which clients send their input."""

from __future__ import annotations

import pytest

from controlplane.client.call_rewrite import find_command_name, find_tool_input

PATCH = "*** Begin Patch\n*** Add File: src/a.ts\n+one\n*** End Patch\n"


@pytest.mark.parametrize(
    ("payload", "command"),
    [
        ({"tool_input": {"command": "ls"}}, "ls"),
        ({"toolArgs": {"command": "ls"}}, "ls"),
        ({"toolArgs": '{"command": "ls"}'}, "ls"),
        ({"output": {"args": {"cmd": "ls"}}}, "ls"),
        ({"toolArgs": PATCH}, None),
        ({"toolArgs": "[1]"}, None),
        ({"toolArgs": ""}, None),
        ({"tool_input": PATCH}, None),
        ({"output": PATCH}, None),
        ({}, None),
    ],
)
def test_the_command_of_a_call(payload, command):
    tool_input = find_tool_input(payload)
    assert tool_input.get(find_command_name(tool_input)) == command
