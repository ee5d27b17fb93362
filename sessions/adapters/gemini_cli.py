"""Gemini CLI: command hooks (checked with 0.61.0). It gives no call id, and sub-agents have no mark."""

from __future__ import annotations

from sessions.adapters import claude_format
from sessions.adapters.hook_call import (
    Answer,
    Body,
    Client,
    Event,
    FileText,
    HookCall,
    Payload,
    events,
    mapping,
    whole_text,
)

EVENTS = events(
    pre_tool="BeforeTool",
    post_tool="AfterTool",
    prompt="BeforeAgent",
    session_start="SessionStart",
    session_end="SessionEnd",
    compact="PreCompress",
    other="AfterAgent BeforeModel AfterModel BeforeToolSelection Notification",
)
SPEAKING = frozenset({"BeforeAgent", "SessionStart"})


def parse(payload: Payload, event: Event) -> HookCall:
    failed = "error" in mapping(payload.get("tool_response"))
    return claude_format.parse(
        payload, event, failed=failed, texts=texts(payload) if event is Event.POST_TOOL else ()
    )


def texts(payload: Payload) -> tuple[FileText, ...]:
    """What the display of a writing tool holds: the whole text before and after."""
    shown = mapping(mapping(payload.get("tool_response")).get("returnDisplay"))
    return whole_text(shown.get("filePath"), shown.get("newContent"), shown.get("originalContent"))


def render(name: str, answer: Answer) -> Body:
    """Never `ask`: without a terminal it hangs for ever."""
    if answer.refused:
        return {"decision": "deny", "reason": answer.text}
    if answer.context and name in SPEAKING:
        return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": answer.context}}
    return {}


CLIENT = Client(EVENTS, parse, render, wait_most=50.0)  # 60 s by default
