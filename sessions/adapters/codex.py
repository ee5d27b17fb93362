"""Codex CLI: hooks of type command or mcp_tool, no HTTP (checked with 0.171.0).

Its schema of answers is strict: an unknown key, an empty reason, `ask` or a bare `allow` is a failed hook,
and the tool runs. So what is said is a denial with a reason, context, or `{}`.
"""

from __future__ import annotations

from sessions.adapters import claude_format
from sessions.adapters.hook_call import Client, Event, HookCall, Payload, events

EVENTS = events(
    pre_tool="PreToolUse",
    post_tool="PostToolUse",
    prompt="UserPromptSubmit",
    session_start="SessionStart",
    session_end="SessionEnd",
    subagent="SubagentStart SubagentStop",
    compact="PreCompact PostCompact",
    other="PermissionRequest Stop Interrupt",
)
PATCHED = "Success."  # how apply_patch begins its report; there is no event for a tool that failed


def parse(payload: Payload, event: Event) -> HookCall:
    """`cwd` is the call's own working folder."""
    patch = event is Event.POST_TOOL and payload.get("tool_name") == "apply_patch"
    return claude_format.parse(
        payload, event, failed=patch and PATCHED not in str(payload.get("tool_response"))
    )


CLIENT = Client(EVENTS, parse, claude_format.render, wait_most=55.0)  # 600 s by default
