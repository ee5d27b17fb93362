"""The hook format of Claude Code, which Codex, Qwen Code and VS Code share."""

from __future__ import annotations

from typing import Any

from sessions.adapters.hook_call import Body, Event, HookAnswer, HookCall, Payload, find_exit_status, first

# Events whose answer may carry context for the model
CONTEXT_EVENTS = frozenset({"PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart"})


def parse(payload: Payload, event: Event, **overrides: Any) -> HookCall:
    """Parse snake_case keys, or the camelCase of VS Code. A sub-agent has the session id of its parent.

    A failed tool has an event of its own, with an `error`.
    """
    error = payload.get("error")
    fields = {"failed": bool(error), "exit_status": find_exit_status(error)} | overrides
    return HookCall(
        event=event,
        session_id=first(payload, "session_id", "sessionId"),
        tool=first(payload, "tool_name", "toolName"),
        input=first(payload, "tool_input", "toolInput"),
        call_id=payload.get("tool_use_id"),
        cwd=payload.get("cwd"),
        model=payload.get("model"),
        duration_ms=payload.get("duration_ms"),
        **fields,
    )


def render(name: str, answer: HookAnswer) -> Body:
    """Render the answer. `{}` is no objection: a bare `allow` would skip the client's own prompt."""
    output: Body = {}
    if answer.denied:
        output = {"permissionDecision": "deny", "permissionDecisionReason": answer.text}
    elif answer.context and name in CONTEXT_EVENTS:
        output = {"additionalContext": answer.context}
    return {"hookSpecificOutput": {"hookEventName": name, **output}} if output else {}
