"""Qwen Code: hooks of type command or http (checked with 0.24.4). Any failing hook lets the tool run."""

from __future__ import annotations

from dataclasses import replace

from sessions.adapters import claude_format, gemini_cli
from sessions.adapters.hook_call import Client, Event, HookCall, Payload, event_table

EVENTS = event_table(
    pre_tool="PreToolUse",
    post_tool="PostToolUse PostToolUseFailure",
    prompt="UserPromptSubmit",
    session_start="SessionStart",
    session_end="SessionEnd SessionDelete",
    subagent="SubagentStart SubagentStop",
    compact="PreCompact PostCompact",
    other="PostToolBatch UserPromptExpansion MessageDisplay Stop StopFailure Notification"
    " PermissionRequest PermissionDenied TodoCreated TodoCompleted InstructionsLoaded",
)


def parse(payload: Payload, event: Event) -> HookCall:
    """The prompt event comes before every model call; only a person's prompt has `submitted_prompt`."""
    if event is Event.PROMPT and payload.get("submitted_prompt") is None:
        event = Event.OTHER
    call = claude_format.parse(payload, event)
    if event is not Event.POST_TOOL:
        return call
    exit_status = call.exit_status if call.failed else gemini_cli.read_exit_status(payload)
    return replace(call, contents=gemini_cli.read_contents(payload), exit_status=exit_status)


CLIENT = Client(EVENTS, parse, claude_format.render, max_wait_seconds=50.0)  # 60 s by default for a command
