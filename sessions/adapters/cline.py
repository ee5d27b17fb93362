"""Cline: executables named after their event, or better a plugin (both checked with 3.0.65).

A file hook's `cancel` aborts the whole run and the model never learns why; a plugin's `beforeTool` skips the
one call and tells it. The plugin sends `{"toolCall", "sessionContext", "workspaceRoots", "clineVersion"}`.
"""

from __future__ import annotations

from sessions.adapters.hook_call import (
    Answer,
    Body,
    Client,
    Event,
    FileText,
    HookCall,
    Payload,
    events,
    first,
    first_of,
    mapping,
    whole_text,
)

EVENTS = events(
    pre_tool="PreToolUse beforeTool",
    post_tool="PostToolUse afterTool",
    prompt="UserPromptSubmit beforeRun",
    session_start="TaskStart TaskResume",
    session_end="SessionShutdown",
    other="TaskComplete TaskError TaskCancel",
)
SPEAKING = frozenset({"UserPromptSubmit", "TaskStart", "TaskResume"})


def parse(payload: Payload, event: Event) -> HookCall:
    """One session for all agents of a run. The flattened `preToolUse` holds texts only: it is not used."""
    call = mapping(first(payload, "tool_call", "tool_result", "toolCall"))
    root = first_of(payload.get("workspaceRoots"))
    if event is Event.SESSION_START and payload.get("parent_agent_id"):
        event = Event.SUBAGENT
    return HookCall(
        event=event,
        session_id=mapping(payload.get("sessionContext")).get("rootSessionId"),
        tool=first(call, "name", "toolName"),
        input=call.get("input"),
        call_id=first(call, "id", "toolCallId"),
        cwd=root,
        root=root,
        version=payload.get("clineVersion"),
        failed=bool(call.get("error")) or mapping(call.get("output")).get("success") is False,
        texts=_created(mapping(call.get("input"))) if event is Event.POST_TOOL else (),
    )


def _created(given: Payload) -> tuple[FileText, ...]:
    """`editor` creates a file where it is told neither what to replace nor where to insert."""
    changes = first(given, "old_text", "insert_line") is not None
    return () if changes else whole_text(given.get("path"), given.get("new_text"))


def render(name: str, answer: Answer) -> Body:
    if answer.refused and name == "beforeTool":
        return {"skip": True, "reason": answer.text}
    if answer.refused:
        return {"cancel": True, "errorMessage": answer.text}
    if answer.context and name == "beforeRun":
        return {"appendContext": answer.context}
    return {"context": answer.context} if answer.context and name in SPEAKING else {}


CLIENT = Client(EVENTS, parse, render, wait_most=0.0)  # a plugin has 3 s, and nobody decides within them
