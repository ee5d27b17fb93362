"""What an approval is about, in the words of the queue and of the card's head."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from controlplane.policy.calls.resolve_tool import ResolvedTool, resolve_tool
from controlplane.policy.calls.toolsets.kinds import ToolKind
from controlplane.policy.model import ErrorType, ToolCall
from sessions.approvals.card.command import command_of
from sessions.models import Approval

# What the tool does: (kind of row, verb).
WORDS: Mapping[ToolKind, tuple[str, str]] = {
    ToolKind.WRITE: ("edit", "Write"),
    ToolKind.EDIT: ("edit", "Edit"),
    ToolKind.EDITOR: ("edit", "Edit"),
    ToolKind.PATCH: ("edit", "Patch"),
    ToolKind.DELETE: ("delete", "Delete"),
    ToolKind.DELETE_TREE: ("delete", "Delete the folder"),
    ToolKind.MOVE: ("edit", "Move"),
    ToolKind.FOLDER: ("edit", "Make the folder"),
    ToolKind.SHELL: ("shell", "Run a shell command"),
    ToolKind.MONITOR: ("shell", "Run a command in the background"),
}
OTHER = ("other", "Call")


@dataclass(frozen=True, slots=True)
class Subject:
    """`kind` chooses the icon: edit, delete, shell, scope, completion, stale or other."""

    kind: str
    verb: str
    object: str
    object_is: str  # path | command | text


def resolved_tool(approval: Approval) -> ResolvedTool:
    """The tool that the call really means, with its input."""
    call = ToolCall(tool=approval.tool, input=approval.call.get("input"), agent=approval.session.agent_name)
    return resolve_tool(call)


def paths_of(approval: Approval) -> list[str]:
    """What a decision is about: the paths that were in the way, else all that the call would change."""
    offending: list[str] = approval.call.get("offending") or []
    return offending or [target["path"] for target in approval.call.get("targets", [])]


def subject_of(approval: Approval) -> Subject:
    """0 queries when the session was fetched along."""
    if approval.kind == Approval.Kind.SCOPE:
        patterns = approval.call.get("patterns", [])
        return Subject("scope", f"Widen {approval.intent_id}", "+ " + _several(patterns), "text")
    if approval.kind == Approval.Kind.COMPLETION:
        title = f"Complete {approval.intent_id}"
        return Subject("completion", title, title, "text")
    return _call(approval)


def _call(approval: Approval) -> Subject:
    resolved = resolved_tool(approval)
    tool: Any = resolved.tool
    kind, verb = WORDS.get(tool.kind, OTHER) if tool else OTHER
    if kind == "shell":
        command = command_of(resolved)
        return Subject(kind, verb, next(iter(command.strip().splitlines()), ""), "command")
    if kind == "other":
        return Subject(kind, verb, approval.tool, "text")
    paths = paths_of(approval)
    if approval.error_type == ErrorType.STALE_FILE:
        kind = "stale"
    return Subject(kind, verb, _several(paths), "path" if len(paths) == 1 else "text")


def _several(names: list[str]) -> str:
    """The first of them, and how many more there are."""
    if len(names) < 2:
        return names[0] if names else ""
    return f"{names[0]} and {len(names) - 1} more"
