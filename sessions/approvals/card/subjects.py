"""Name what an approval is about, for the queue and for the head of the card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from controlplane.policy.calls.resolve_tool import ResolvedTool, resolve_tool
from controlplane.policy.calls.toolsets.kinds import ToolKind
from controlplane.policy.model import ErrorType, ToolCall
from sessions.approvals.card.command import extract_command
from sessions.approvals.kinds.plans import is_plan, list_requested
from sessions.models import Approval

# What the tool does: (kind of row, verb).
TOOL_VERBS: Mapping[ToolKind, tuple[str, str]] = {
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
OTHER_TOOL = ("other", "Call")


@dataclass(frozen=True, slots=True)
class ApprovalSubject:
    """`kind` selects the icon: edit, delete, shell, scope, completion, stale or other."""

    kind: str
    verb: str
    object: str
    object_is: str  # path | command | text


def resolve_approval_tool(approval: Approval) -> ResolvedTool:
    """Resolve the tool of the stored call, with its input."""
    call = ToolCall(tool=approval.tool, input=approval.call.get("input"), agent=approval.session.agent_name)
    return resolve_tool(call)


def list_paths(approval: Approval) -> list[str]:
    """Return the offending paths, or all targets of a call that was held for another reason."""
    offending: list[str] = approval.call.get("offending") or []
    return offending or [target["path"] for target in approval.call.get("targets", [])]


def describe_subject(approval: Approval) -> ApprovalSubject:
    """Describe the approval. 0 queries when the session was fetched with it."""
    if approval.kind == Approval.Kind.SCOPE:
        patterns, kinds = list_requested(approval)
        verb = f"Widen {approval.intent_id}"
        if is_plan(approval):
            verb = f"Plan for {approval.intent_id}" if approval.intent_id else "Plan for this session"
        return ApprovalSubject("scope", verb, "+ " + abbreviate([*patterns, *kinds]), "text")
    if approval.kind == Approval.Kind.COMPLETION:
        title = f"Complete {approval.intent_id}"
        return ApprovalSubject("completion", title, title, "text")
    if approval.kind == Approval.Kind.RUN:
        return ApprovalSubject(
            "edit", "Keep what a command changed:", abbreviate(list_paths(approval)), "text"
        )
    return _describe_call(approval)


def _describe_call(approval: Approval) -> ApprovalSubject:
    resolved = resolve_approval_tool(approval)
    tool: Any = resolved.tool
    kind, verb = TOOL_VERBS.get(tool.kind, OTHER_TOOL) if tool else OTHER_TOOL
    if kind == "shell":
        command = extract_command(resolved)
        return ApprovalSubject(kind, verb, next(iter(command.strip().splitlines()), ""), "command")
    if kind == "other":
        return ApprovalSubject(kind, verb, approval.tool, "text")
    paths = list_paths(approval)
    if approval.error_type == ErrorType.STALE_FILE:
        kind = "stale"
    return ApprovalSubject(kind, verb, abbreviate(paths), "path" if len(paths) == 1 else "text")


def abbreviate(names: list[str]) -> str:
    """Return the first name and the number of the others."""
    if len(names) < 2:
        return names[0] if names else ""
    return f"{names[0]} and {len(names) - 1} more"
