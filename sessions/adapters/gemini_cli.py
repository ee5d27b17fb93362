"""Gemini CLI: command hooks (checked with 0.61.0). It gives no call id, and sub-agents have no mark."""

from __future__ import annotations

from sessions.adapters import claude_format
from sessions.adapters.hook_call import (
    Body,
    Client,
    Event,
    FileContent,
    HookAnswer,
    HookCall,
    Payload,
    event_table,
    file_content,
    find_exit_status,
    mapping,
)

EVENTS = event_table(
    pre_tool="BeforeTool",
    post_tool="AfterTool",
    prompt="BeforeAgent",
    session_start="SessionStart",
    session_end="SessionEnd",
    compact="PreCompress",
    other="AfterAgent BeforeModel AfterModel BeforeToolSelection Notification",
)
CONTEXT_EVENTS = frozenset({"AfterTool", "BeforeAgent", "SessionStart"})


def parse(payload: Payload, event: Event) -> HookCall:
    failed = "error" in mapping(payload.get("tool_response"))
    if event is not Event.POST_TOOL:
        return claude_format.parse(payload, event, failed=failed)
    return claude_format.parse(
        payload, event, failed=failed, contents=read_contents(payload), exit_status=read_exit_status(payload)
    )


def read_contents(payload: Payload) -> tuple[FileContent, ...]:
    """Read the display of a writing tool, which holds the full text before and after."""
    display = mapping(mapping(payload.get("tool_response")).get("returnDisplay"))
    return file_content(display.get("filePath"), display.get("newContent"), display.get("originalContent"))


def read_exit_status(payload: Payload) -> int | None:
    """Read the line for the model, which stands behind what the command printed; success has none."""
    return find_exit_status(mapping(payload.get("tool_response")).get("llmContent"))


def render(name: str, answer: HookAnswer) -> Body:
    """Render the answer; never `ask`, which hangs for ever without a terminal."""
    if answer.denied:
        return {"decision": "deny", "reason": answer.text}
    if answer.context and name in CONTEXT_EVENTS:
        return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": answer.context}}
    return {}


CLIENT = Client(EVENTS, parse, render, max_wait_seconds=50.0)  # 60 s by default
