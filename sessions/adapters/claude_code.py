"""Claude Code: settings.json hooks of type command, http or mcp_tool (checked with 2.1.332)."""

from __future__ import annotations

from sessions.adapters import claude_format
from sessions.adapters.hook_call import (
    Client,
    Event,
    FileText,
    HookCall,
    Payload,
    events,
    first,
    mapping,
    whole_text,
)

EVENTS = events(
    pre_tool="PreToolUse",
    post_tool="PostToolUse",
    prompt="UserPromptSubmit",
    session_start="SessionStart",
    session_end="SessionEnd",
    subagent="SubagentStart SubagentStop",
    compact="PreCompact PostCompact",
    other="PostToolUseFailure PostToolBatch Notification UserPromptExpansion Stop StopFailure PreModelSwitch"
    " PostModelSwitch PermissionRequest PermissionDenied Setup TeammateIdle TaskCreated TaskCompleted"
    " Elicitation ElicitationResult ConfigChange WorktreeCreate WorktreeRemove InstructionsLoaded CwdChanged"
    " FileChanged DirectoryAdded MessageDisplay",
)


def parse(payload: Payload, event: Event) -> HookCall:
    return claude_format.parse(payload, event, texts=_texts(payload) if event is Event.POST_TOOL else ())


def _texts(payload: Payload) -> tuple[FileText, ...]:
    """Write gives the whole new text, NotebookEdit too; Edit the old one and what was replaced in it."""
    told = mapping(payload.get("tool_response"))
    path = first(told, "filePath", "notebook_path")
    before = first(told, "originalFile", "original_file")
    after = first(told, "content", "updated_file")
    if after is None and not told.get("userModified"):
        after = _edited(told, before)
    return whole_text(path, after, before)


def _edited(told: Payload, before: object) -> str | None:
    old, new = told.get("oldString"), told.get("newString")
    if not (isinstance(before, str) and isinstance(old, str) and old and isinstance(new, str)):
        return None
    return before.replace(old, new, -1 if told.get("replaceAll") else 1)


CLIENT = Client(EVENTS, parse, claude_format.render, wait_most=55.0)  # 600 s by default
