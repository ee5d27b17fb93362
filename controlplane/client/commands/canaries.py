"""Canaries: calls that must be denied, as each client's hook sends them, by the agent and by a sub-agent.

They read outside the workspace, which no intent and no person can allow, and are dry runs.
"""

from __future__ import annotations

import json

from controlplane.client.agents import CLIENTS, find_refusal
from controlplane.client.connection import ControlPlaneError, read_connections
from controlplane.client.http_post import post
from controlplane.client.repository import find_main_repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

AGENT, SUBAGENT, OUTSIDE = "canary", "canary-helper", "../canary"
CANARY_SECONDS = 10


def claude_payload(tool: str, field: str, value: str = OUTSIDE) -> dict[str, Any]:
    return {"session_id": AGENT, "tool_name": tool, "tool_input": {field: value}}


def plugin_payload(session: dict[str, Any]) -> dict[str, Any]:
    call = {"tool": "read", "sessionID": SUBAGENT, "callID": AGENT}
    return {"input": call, "output": {"args": {"filePath": OUTSIDE}}, **session}


COMMAND = f"cat {OUTSIDE}"
SUBAGENT_FIELDS = {
    "agent_id": SUBAGENT,
    "agent_type": "general-purpose",
}  # of Claude Code and similar clients
# The payload of the agent's call, and the fields that differ for its sub-agent; None where none do.
CANARIES: dict[str, tuple[dict[str, Any], dict[str, Any] | None]] = {
    "claude-code": (claude_payload("Read", "file_path"), SUBAGENT_FIELDS),
    "codex": (claude_payload("Bash", "command", COMMAND), SUBAGENT_FIELDS),
    "gemini-cli": (claude_payload("read_file", "file_path"), None),
    "qwen-code": (claude_payload("read_file", "file_path"), SUBAGENT_FIELDS),
    "copilot": (
        {"sessionId": AGENT, "toolName": "view", "toolArgs": {"path": OUTSIDE}},
        {"sessionId": SUBAGENT, "parentAgentId": AGENT},
    ),
    "cursor": (
        claude_payload("Read", "file_path") | {"conversation_id": AGENT},
        {"conversation_id": SUBAGENT},
    ),
    "windsurf": (
        {
            "trajectory_id": AGENT,
            "agent_action_name": "pre_read_code",
            "tool_info": {"file_path": OUTSIDE},
        },
        None,
    ),
    "opencode": (plugin_payload({"rootSessionID": SUBAGENT}), {"rootSessionID": AGENT}),
    "kilo": (plugin_payload({"rootSessionID": SUBAGENT}), {"rootSessionID": AGENT}),
    "cline": (
        {
            "toolCall": {"toolName": "read_files", "input": {"files": [{"path": OUTSIDE}]}},
            "sessionContext": {"rootSessionId": AGENT},
        },
        {"sessionContext": {"rootSessionId": AGENT, "agentId": SUBAGENT}},
    ),
}


def check_gate_canary(root: str) -> str:
    """Return why the gate does not deny a canary, "" if it does. An invalid token shows here."""
    call: dict[str, Any] = {"session_id": AGENT, "tool": "read_file", "input": {"path": OUTSIDE}}
    return send_canary(root, "api/v1/gate", {**call, "root": root, "cwd": root, "dry_run": True})


def check_canaries(root: str, agent: str) -> list[tuple[str, str]]:
    """Return (check, problem or "") for this client in this repository."""
    payload, subagent_fields = CANARIES[agent]
    calls = [("its call is denied in its own form", payload)]
    if subagent_fields is not None:
        calls.append(("so is its sub-agent's call", payload | subagent_fields))
    event = CLIENTS[agent].gates.split()[0]
    common = {"cwd": root, "hook_event_name": event, "icp": {"root": root, "dry_run": True}}
    address = f"hooks/{agent}/{event}"
    return [(title, send_canary(root, address, common | call)) for title, call in calls]


def send_canary(root: str, address: str, payload: dict[str, Any]) -> str:
    connection = read_connections().get(find_main_repository(root))
    if connection is None:
        return f"no connection is saved for {root}"
    body = json.dumps(payload).encode()
    try:
        answer, decision = post(f"{connection['url']}/{address}", connection["token"], body, CANARY_SECONDS)
    except ControlPlaneError as problem:
        return str(problem)
    is_denied = find_refusal(answer) if decision else answer.get("decision") == "deny"
    return "" if is_denied else f"it answered a canary with {json.dumps(answer)[:200]}"
