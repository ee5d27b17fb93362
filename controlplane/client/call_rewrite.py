"""Find the command in a client's call, and say in the client's own form that another one is to run."""

from __future__ import annotations

import os

from controlplane.client.fast_json import parse_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

COMMAND_NAMES = ("command", "cmd")


def updated_input(event: str, tool_input: dict[str, Any]) -> dict[str, Any]:
    """Return the form of Claude Code, which Codex shares."""
    decision = {"permissionDecision": "allow", "updatedInput": tool_input}
    return {"hookSpecificOutput": {"hookEventName": event, **decision}}


def merged_input(_: str, tool_input: dict[str, Any]) -> dict[str, Any]:
    """Return the form of Gemini CLI."""
    return {"hookSpecificOutput": {"tool_input": tool_input}}


def modified_arguments(_: str, tool_input: dict[str, Any]) -> dict[str, Any]:
    """Return the form of Copilot CLI."""
    return {"permissionDecision": "allow", "modifiedArgs": tool_input}


def plugin_arguments(_: str, tool_input: dict[str, Any]) -> dict[str, Any]:
    """Return what the plug-ins of OpenCode and Kilo assign to the call."""
    return {"args": tool_input}


def updated_permission(_: str, tool_input: dict[str, Any]) -> dict[str, Any]:
    """Return the form of Cursor."""
    return {"permission": "allow", "updated_input": tool_input}


REWRITES = {
    "claude-code": updated_input,
    "codex": updated_input,
    "gemini-cli": merged_input,
    "copilot": modified_arguments,
    "opencode": plugin_arguments,
    "kilo": plugin_arguments,
    "cursor": updated_permission,
}


def find_tool_input(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the input of the tool, wherever the client puts it."""
    output = payload.get("output")
    inputs = [payload.get("tool_input"), payload.get("toolArgs")]
    inputs.append(output.get("args") if isinstance(output, dict) else None)
    if isinstance(inputs[1], str):
        inputs[1] = _decode(inputs[1])
    return next((value for value in inputs if isinstance(value, dict)), {})


def _decode(text: str) -> Any:
    """Return what Copilot has encoded; None for a text that stands for itself, such as a patch."""
    try:
        return parse_json(text.encode())
    except ValueError:
        return None


def find_command_name(tool_input: dict[str, Any]) -> str:
    return next((name for name in COMMAND_NAMES if isinstance(tool_input.get(name), str)), "")


def find_shell() -> str:
    return "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"
