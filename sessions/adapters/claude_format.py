"""The payload and the answer that Claude Code began and Codex, Qwen Code and VS Code took over."""

from __future__ import annotations

from typing import Any

from sessions.adapters.hook_call import Answer, Body, Event, HookCall, Payload, first

# Events whose answer may carry context for the model.
SPEAKING = frozenset({"PreToolUse", "UserPromptSubmit", "SessionStart"})


def parse(payload: Payload, event: Event, **more: Any) -> HookCall:
    """snake_case, and the camelCase of VS Code. Sub-agents come under the session of their parent."""
    return HookCall(
        event=event,
        session_id=first(payload, "session_id", "sessionId"),
        tool=first(payload, "tool_name", "toolName"),
        input=first(payload, "tool_input", "toolInput"),
        call_id=payload.get("tool_use_id"),
        cwd=payload.get("cwd"),
        model=payload.get("model"),
        **more,
    )


def render(name: str, answer: Answer) -> Body:
    """`{}` is "no objection": a bare `allow` would skip the client's own permission prompt."""
    said: Body = {}
    if answer.refused:
        said = {"permissionDecision": "deny", "permissionDecisionReason": answer.text}
    elif answer.context and name in SPEAKING:
        said = {"additionalContext": answer.context}
    return {"hookSpecificOutput": {"hookEventName": name, **said}} if said else {}
