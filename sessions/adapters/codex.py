"""Codex CLI: hooks of type command or mcp_tool, no HTTP (checked with 0.171.0).

Its schema of answers is strict: an unknown key, an empty reason, `ask` or a bare `allow` is a failed hook,
and the tool runs. So an answer is a denial with a reason, context, or `{}`.
"""

from __future__ import annotations

from sessions.adapters import claude_format
from sessions.adapters.hook_call import Client, Event, HookCall, Payload, event_table

EVENTS = event_table(
    pre_tool="PreToolUse",
    post_tool="PostToolUse",
    prompt="UserPromptSubmit",
    session_start="SessionStart",
    session_end="SessionEnd",
    subagent="SubagentStart SubagentStop",
    compact="PreCompact PostCompact",
    other="PermissionRequest Stop Interrupt",
)
PATCH_SUCCESS = "Success."  # the beginning of apply_patch's report; a failed tool has no event of its own


def parse(payload: Payload, event: Event) -> HookCall:
    """Parse the payload; its `cwd` is the call's own working directory."""
    is_patch = event is Event.POST_TOOL and payload.get("tool_name") == "apply_patch"
    return claude_format.parse(
        payload, event, failed=is_patch and PATCH_SUCCESS not in str(payload.get("tool_response"))
    )


CLIENT = Client(EVENTS, parse, claude_format.render, max_wait_seconds=55.0)  # 600 s by default
