"""Cursor: command hooks (checked with the agent of its SDK 1.0.32, which has the hook engine of all).

A sub-agent has a conversation id of its own, which names no parent: it makes a session without an intent.
Under `failClosed` an empty answer blocks, so permission events always get one; only `deny` and `allow` are
used, because `ask` lets the tool run in preToolUse.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from sessions.adapters import claude_format
from sessions.adapters.hook_call import (
    Body,
    Client,
    Event,
    HookAnswer,
    HookCall,
    Payload,
    event_table,
    find_exit_status,
    first,
    first_item,
    mapping,
)

EVENTS = event_table(
    pre_tool="preToolUse beforeShellExecution beforeMCPExecution beforeReadFile beforeTabFileRead",
    post_tool="postToolUse postToolUseFailure",
    prompt="beforeSubmitPrompt",
    session_start="sessionStart",
    session_end="sessionEnd",
    subagent="subagentStart subagentStop",
    compact="preCompact",
    other="afterShellExecution afterMCPExecution afterFileEdit afterTabFileEdit stop"
    " afterAgentResponse afterAgentThought workspaceOpen",
)
PERMISSION_EVENTS = frozenset({*(name for name in EVENTS if EVENTS[name] is Event.PRE_TOOL), "subagentStart"})
MAX_CONTEXT = 10_000  # characters


def parse(payload: Payload, event: Event) -> HookCall:
    root = first_item(payload.get("workspace_roots"))
    call = replace(
        claude_format.parse(payload, event),
        session_id=first(payload, "conversation_id", "session_id"),
        input=_without_empty_cwd(first(payload, "tool_input")),
        cwd=payload.get("cwd") or root,
        root=root,
        version=payload.get("cursor_version"),
    )
    if event is Event.POST_TOOL:
        return replace(call, duration_ms=payload.get("duration"), **_read_ending(payload))
    return replace(call, **_tool_of_event(payload)) if event is Event.PRE_TOOL else call


def _read_ending(payload: Payload) -> dict[str, Any]:
    """Read how a tool ended: its output is JSON text, a failure has a message."""
    error = payload.get("error_message")
    output = mapping(_decode_json(payload.get("tool_output")))
    return {"failed": error is not None, "exit_status": output.get("exitCode", find_exit_status(error))}


def _without_empty_cwd(tool_input: Any) -> Any:
    """Drop an empty `cwd`, which stands for a command without one."""
    return {**tool_input, "cwd": None} if mapping(tool_input).get("cwd") == "" else tool_input


def _tool_of_event(payload: Payload) -> dict[str, Any]:
    """Return the tool that an event stands for (a command, a read), by the keys of its payload."""
    if payload.get("mcp_server_name") is not None:
        name = f"mcp__{payload['mcp_server_name']}__{payload.get('tool_name')}"
        return {"tool": name, "input": _decode_json(payload.get("tool_input"))}
    if payload.get("tool_name") is not None:
        return {}
    if "command" in payload:
        return {"tool": "Shell", "input": {"command": payload["command"]}}
    return {"tool": "Read", "input": {"file_path": payload.get("file_path")}}


def _decode_json(text: Any) -> Any:
    """Decode arguments that come as JSON text; anything else stays as it is, and the gate refuses it."""
    try:
        return json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return text


def render(name: str, answer: HookAnswer) -> Body:
    if answer.denied:
        return {"permission": "deny", "user_message": answer.text}
    context = {"additional_context": answer.context[:MAX_CONTEXT]} if answer.context else {}
    if name in PERMISSION_EVENTS:
        return {"permission": "allow", **(context if name == "preToolUse" else {})}
    if EVENTS[name] in {Event.PROMPT, Event.SESSION_START}:
        return {"continue": True, **context}
    return {}


CLIENT = Client(EVENTS, parse, render, max_wait_seconds=50.0)  # 60 s by default
