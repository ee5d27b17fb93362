"""Calls that must be denied, as each client's hook sends them: one of the agent, one of a sub-agent of it.

Both read outside of the workspace, which no intent and no human can allow. Nothing of them is recorded.
"""

from __future__ import annotations

import json

from controlplane.client.agents import CLIENTS, reason_in
from controlplane.client.call_context import CannotAskError, connections
from controlplane.client.http_post import post

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

AGENT, HELPER, OUTSIDE = "canary", "canary-helper", "../canary"
CANARY_SECONDS = 10


def as_claude(tool: str, field: str, value: str = OUTSIDE) -> dict[str, Any]:
    return {"session_id": AGENT, "tool_name": tool, "tool_input": {field: value}}


def as_plugin(session: dict[str, Any]) -> dict[str, Any]:
    given = {"tool": "read", "sessionID": HELPER, "callID": AGENT}
    return {"input": given, "output": {"args": {"filePath": OUTSIDE}}, **session}


COMMAND = f"cat {OUTSIDE}"
OF_HELPER = {"agent_id": HELPER, "agent_type": "general-purpose"}  # Claude Code's mark, and of those like it
# The payload of the agent's call, and what is another in that of its sub-agent; None where they look alike.
CANARIES: dict[str, tuple[dict[str, Any], dict[str, Any] | None]] = {
    "claude-code": (as_claude("Read", "file_path"), OF_HELPER),
    "codex": (as_claude("Bash", "command", COMMAND), OF_HELPER),
    "gemini-cli": (as_claude("read_file", "file_path"), None),
    "qwen-code": (as_claude("read_file", "file_path"), OF_HELPER),
    "copilot": (
        {"sessionId": AGENT, "toolName": "view", "toolArgs": {"path": OUTSIDE}},
        {"sessionId": HELPER, "parentAgentId": AGENT},
    ),
    "cursor": (
        as_claude("Read", "file_path") | {"conversation_id": AGENT},
        {"conversation_id": HELPER},
    ),
    "windsurf": (
        {
            "trajectory_id": AGENT,
            "agent_action_name": "pre_read_code",
            "tool_info": {"file_path": OUTSIDE},
        },
        None,
    ),
    "opencode": (as_plugin({"rootSessionID": HELPER}), {"rootSessionID": AGENT}),
    "kilo": (as_plugin({"rootSessionID": HELPER}), {"rootSessionID": AGENT}),
    "cline": (
        {
            "toolCall": {"toolName": "read_files", "input": {"files": [{"path": OUTSIDE}]}},
            "sessionContext": {"rootSessionId": AGENT},
        },
        {"sessionContext": {"rootSessionId": AGENT, "agentId": HELPER}},
    ),
}


def undenied(root: str) -> str:
    """Why the gate itself does not deny a canary; "" where it does. A token that does not hold shows here."""
    call: dict[str, Any] = {"session_id": AGENT, "tool": "read_file", "input": {"path": OUTSIDE}}
    return unlike_a_denial(root, "api/v1/gate", {**call, "root": root, "cwd": root, "dry_run": True})


def canaries(root: str, agent: str) -> list[tuple[str, str]]:
    """(what is checked, the problem or "") for this client in this repository."""
    payload, helper = CANARIES[agent]
    calls = [("its call is denied in its own form", payload)]
    if helper is not None:
        calls.append(("so is its sub-agent's call", payload | helper))
    event = CLIENTS[agent].gates.split()[0]
    told = {"cwd": root, "hook_event_name": event, "icp": {"root": root, "dry_run": True}}
    address = f"hooks/{agent}/{event}"
    return [(title, unlike_a_denial(root, address, told | call)) for title, call in calls]


def unlike_a_denial(root: str, address: str, asked: dict[str, Any]) -> str:
    told = connections().get(root)
    if told is None:
        return f"no connection is kept for {root}"
    body = json.dumps(asked).encode()
    try:
        answer, decision = post(f"{told['url']}/{address}", told["token"], body, CANARY_SECONDS)
    except CannotAskError as problem:
        return str(problem)
    denied = reason_in(answer) if decision else answer.get("decision") == "deny"
    return "" if denied else f"it answered a canary with {json.dumps(answer)[:200]}"
