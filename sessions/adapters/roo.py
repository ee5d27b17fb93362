"""Roo Code has no hooks: a build of one's own sends this around each tool, in the words of the API."""

from __future__ import annotations

from sessions.adapters.hook_call import (
    Body,
    Client,
    Event,
    HookAnswer,
    HookCall,
    Payload,
    event_table,
    mapping,
)

EVENTS = event_table(
    pre_tool="pre_tool",
    post_tool="post_tool",
    prompt="prompt",
    session_start="session_start",
    session_end="session_end",
    subagent="subagent",
    compact="compact",
)


def parse(payload: Payload, event: Event) -> HookCall:
    """The fields of `POST /api/v1/gate`; a sub-task sends the session id of the task that began it."""
    agent = mapping(payload.get("agent"))
    return HookCall(
        event=event,
        session_id=payload.get("session_id"),
        tool=payload.get("tool"),
        input=payload.get("input"),
        call_id=payload.get("tool_use_id"),
        cwd=payload.get("cwd"),
        root=payload.get("root"),
        version=agent.get("version"),
        model=agent.get("model"),
    )


def render(name: str, answer: HookAnswer) -> Body:
    if answer.denied:
        return {"decision": "deny", "error": answer.text}
    allowed = {"decision": "allow"} if EVENTS[name] is Event.PRE_TOOL else {}
    return {**allowed, **({"context": answer.context} if answer.context else {})}


CLIENT = Client(EVENTS, parse, render, max_wait_seconds=55.0)
