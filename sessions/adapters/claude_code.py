"""Claude Code: settings.json hooks of type command, http or mcp_tool (checked with 2.1.332)."""

from __future__ import annotations

from dataclasses import replace

from sessions.adapters import claude_format
from sessions.adapters.hook_call import (
    Client,
    Event,
    FileContent,
    HookCall,
    Payload,
    event_table,
    file_content,
    first,
    mapping,
)

EVENTS = event_table(
    pre_tool="PreToolUse",
    post_tool="PostToolUse PostToolUseFailure",
    prompt="UserPromptSubmit",
    session_start="SessionStart",
    session_end="SessionEnd",
    subagent="SubagentStart SubagentStop",
    compact="PreCompact PostCompact",
    other="PostToolBatch Notification UserPromptExpansion Stop StopFailure PreModelSwitch"
    " PostModelSwitch PermissionRequest PermissionDenied Setup TeammateIdle TaskCreated TaskCompleted"
    " Elicitation ElicitationResult ConfigChange WorktreeCreate WorktreeRemove InstructionsLoaded CwdChanged"
    " FileChanged DirectoryAdded MessageDisplay",
)


def parse(payload: Payload, event: Event) -> HookCall:
    if event is not Event.POST_TOOL:
        return claude_format.parse(payload, event)
    call = claude_format.parse(payload, event, contents=_read_contents(payload))
    return replace(call, exit_status=0) if _is_finished_command(payload) else call


def _is_finished_command(payload: Payload) -> bool:
    """Whether a command ended well: any other end has the event of a failure."""
    response = mapping(payload.get("tool_response"))
    return response.get("interrupted") is False and "backgroundTaskId" not in response


def _read_contents(payload: Payload) -> tuple[FileContent, ...]:
    """Read the file: Write and NotebookEdit report the new text, Edit the old one and the edit."""
    response = mapping(payload.get("tool_response"))
    path = first(response, "filePath", "notebook_path")
    before = first(response, "originalFile", "original_file")
    after = first(response, "content", "updated_file")
    if after is None and not response.get("userModified"):
        after = _apply_edit(response, before)
    return file_content(path, after, before)


def _apply_edit(response: Payload, before: object) -> str | None:
    old, new = response.get("oldString"), response.get("newString")
    if not (isinstance(before, str) and isinstance(old, str) and old and isinstance(new, str)):
        return None
    return before.replace(old, new, -1 if response.get("replaceAll") else 1)


CLIENT = Client(EVENTS, parse, claude_format.render, max_wait_seconds=55.0)  # 600 s by default
