"""Windsurf Cascade: command hooks, from its documentation; not run.

It knows no JSON answer: exit status 2 refuses, and what is on stderr goes to the agent. So the body says with
which status the hook has to end and what it has to write there.
"""

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
    pre_tool="pre_read_code pre_write_code pre_run_command pre_mcp_tool_use",
    post_tool="post_write_code post_run_command",
    prompt="pre_user_prompt",
    other="post_read_code post_mcp_tool_use post_cascade_response",
)


def parse(payload: Payload, event: Event) -> HookCall:
    """The pre-event's name is the tool, after it has run as well."""
    tool_info = mapping(payload.get("tool_info"))
    return HookCall(
        event=event,
        session_id=payload.get("trajectory_id"),
        tool=str(payload.get("agent_action_name") or "").replace("post_", "pre_", 1),
        input=tool_info,
        cwd=tool_info.get("cwd"),
    )


def render(_: str, answer: HookAnswer) -> Body:
    if answer.denied:
        return {"exit_status": 2, "stderr": answer.text}
    return {"exit_status": 0}


CLIENT = Client(EVENTS, parse, render, max_wait_seconds=0.0)  # its time limit is not documented
