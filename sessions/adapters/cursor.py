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
    Answer,
    Body,
    Client,
    Event,
    HookCall,
    Payload,
    events,
    first,
    first_of,
    mapping,
)

EVENTS = events(
    pre_tool="preToolUse beforeShellExecution beforeMCPExecution beforeReadFile beforeTabFileRead",
    post_tool="postToolUse",
    prompt="beforeSubmitPrompt",
    session_start="sessionStart",
    session_end="sessionEnd",
    subagent="subagentStart subagentStop",
    compact="preCompact",
    other="postToolUseFailure afterShellExecution afterMCPExecution afterFileEdit afterTabFileEdit stop"
    " afterAgentResponse afterAgentThought workspaceOpen",
)
PERMISSION_EVENTS = frozenset({*(name for name in EVENTS if EVENTS[name] is Event.PRE_TOOL), "subagentStart"})
MAX_CONTEXT = 10_000  # characters


def parse(payload: Payload, event: Event) -> HookCall:
    root = first_of(payload.get("workspace_roots"))
    call = replace(
        claude_format.parse(payload, event),
        session_id=first(payload, "conversation_id", "session_id"),
        input=_placed(first(payload, "tool_input")),
        cwd=payload.get("cwd") or root,
        root=root,
        version=payload.get("cursor_version"),
    )
    return replace(call, **_own_event(payload)) if event is Event.PRE_TOOL else call


def _placed(given: Any) -> Any:
    """The folder of a command is empty where the model named none."""
    return {**given, "cwd": None} if mapping(given).get("cwd") == "" else given


def _own_event(payload: Payload) -> dict[str, Any]:
    """The tool of an event that is one itself, told by what its payload holds."""
    if payload.get("mcp_server_name") is not None:
        name = f"mcp__{payload['mcp_server_name']}__{payload.get('tool_name')}"
        return {"tool": name, "input": _decoded(payload.get("tool_input"))}
    if payload.get("tool_name") is not None:
        return {}
    if "command" in payload:
        return {"tool": "Shell", "input": {"command": payload["command"]}}
    return {"tool": "Read", "input": {"file_path": payload.get("file_path")}}


def _decoded(text: Any) -> Any:
    """Arguments that come as JSON text; what is none stays as it is, and the gate refuses it."""
    try:
        return json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return text


def render(name: str, answer: Answer) -> Body:
    if answer.refused:
        return {"permission": "deny", "user_message": answer.text}
    context = {"additional_context": answer.context[:MAX_CONTEXT]} if answer.context else {}
    if name in PERMISSION_EVENTS:
        return {"permission": "allow", **(context if name == "preToolUse" else {})}
    if EVENTS[name] in {Event.PROMPT, Event.SESSION_START}:
        return {"continue": True, **context}
    return {}


CLIENT = Client(EVENTS, parse, render, wait_most=50.0)  # 60 s by default
