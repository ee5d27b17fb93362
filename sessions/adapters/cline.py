"""Cline: executables named after their event, or better a plugin (both checked with 3.0.65).

A file hook's `cancel` aborts the whole run and the model never learns why; a plugin's `beforeTool` skips the
one call and tells it. The plugin sends `{"toolCall", "sessionContext", "workspaceRoots", "clineVersion"}`.
"""

from __future__ import annotations

from typing import Any

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
    first,
    first_item,
    mapping,
)

EVENTS = event_table(
    pre_tool="PreToolUse beforeTool",
    post_tool="PostToolUse afterTool",
    prompt="UserPromptSubmit beforeRun",
    session_start="TaskStart TaskResume",
    session_end="SessionShutdown",
    other="TaskComplete TaskError TaskCancel",
)
CONTEXT_EVENTS = frozenset({"UserPromptSubmit", "TaskStart", "TaskResume"})


def parse(payload: Payload, event: Event) -> HookCall:
    """Use one session for all agents of a run. The flattened `preToolUse` holds texts only and is ignored."""
    call = mapping(first(payload, "tool_call", "tool_result", "toolCall"))
    root = first_item(payload.get("workspaceRoots"))
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
        contents=_read_created_file(mapping(call.get("input"))) if event is Event.POST_TOOL else (),
        exit_status=_read_exit_status(call.get("output")),
        duration_ms=call.get("durationMs"),
    )


def _read_exit_status(output: Any) -> int | None:
    """Read the results of a list of commands: the first that failed, 0 where all ended well."""
    results = [mapping(result) for result in output] if isinstance(output, list) else []
    if not results or not all(isinstance(result.get("success"), bool) for result in results):
        return None
    failed = next((result for result in results if not result["success"]), None)
    return find_exit_status(failed.get("error")) if failed else 0


def _read_created_file(tool_input: Payload) -> tuple[FileContent, ...]:
    """Read a new file: `editor` creates one without a text to replace or a line to insert at."""
    is_edit = first(tool_input, "old_text", "insert_line") is not None
    return () if is_edit else file_content(tool_input.get("path"), tool_input.get("new_text"))


def render(name: str, answer: HookAnswer) -> Body:
    if answer.denied and name == "beforeTool":
        return {"skip": True, "reason": answer.text}
    if answer.denied:
        return {"cancel": True, "errorMessage": answer.text}
    if answer.context and name == "beforeRun":
        return {"appendContext": answer.context}
    return {"context": answer.context} if answer.context and name in CONTEXT_EVENTS else {}


CLIENT = Client(
    EVENTS, parse, render, max_wait_seconds=0.0
)  # a plugin has 3 s, and nobody decides within them
