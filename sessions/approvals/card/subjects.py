"""Name what an approval is about, for the queue and for the head of the card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from controlplane.policy.calls.resolve_tool import ResolvedTool, resolve_tool
from controlplane.policy.calls.toolsets.kinds import MUTATING_KINDS, ToolKind
from controlplane.policy.model import ErrorType, ToolCall
from controlplane.templatetags.names import tool_verb
from sessions.approvals.card.command import extract_command
from sessions.approvals.kinds.plans import is_plan, list_requested
from sessions.models import Approval

# The kind of row of a tool, which selects its icon.
ROW_KINDS: Mapping[ToolKind, str] = {
    **dict.fromkeys((ToolKind.WRITE, ToolKind.EDIT, ToolKind.EDITOR, ToolKind.PATCH), "edit"),
    **dict.fromkeys((ToolKind.MOVE, ToolKind.FOLDER), "edit"),
    **dict.fromkeys((ToolKind.DELETE, ToolKind.DELETE_TREE), "delete"),
    **dict.fromkeys((ToolKind.SHELL, ToolKind.MONITOR), "shell"),
    **dict.fromkeys((ToolKind.READ, ToolKind.SEARCH, ToolKind.GLOB), "read"),
}
OTHER_KIND = "other"
# An editor may only view, a shell only read.
WRITING_KINDS = MUTATING_KINDS - {ToolKind.EDITOR, ToolKind.SHELL, ToolKind.MONITOR}
# Where clients let the model say why it makes a call; nothing is made up where there is none.
REASON_KEYS = ("description", "justification", "explanation", "rationale", "reason")
MAX_REASON_LENGTH = 400


@dataclass(frozen=True, slots=True)
class ApprovalSubject:
    """`kind` selects the icon: edit, delete, shell, run, read, scope, completion, stale or other."""

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


def is_read(approval: Approval) -> bool:
    """Return whether the call was held for what it reads: it changes nothing that is known or unknown."""
    call = approval.call
    if approval.kind != Approval.Kind.CALL or call.get("targets") or call.get("unknown"):
        return False
    tool = resolve_approval_tool(approval).tool
    return bool(call.get("offending")) and (tool is None or tool.kind not in WRITING_KINDS)


def find_agent_reason(approval: Approval) -> str:
    """Return the agent's own words for why it makes this call, on one line; "" where it gave none."""
    data = approval.call if approval.kind == Approval.Kind.SCOPE else approval.call.get("input")
    if not isinstance(data, Mapping):
        return ""
    texts = (data.get(key) for key in REASON_KEYS)
    text = next((text for text in texts if isinstance(text, str) and text.strip()), "")
    line = " ".join(text.split())
    return line if len(line) <= MAX_REASON_LENGTH else f"{line[:MAX_REASON_LENGTH]}…"


def describe_subject(approval: Approval) -> ApprovalSubject:
    """Describe the approval. 0 queries when the session was fetched with it."""
    if approval.kind == Approval.Kind.SCOPE:
        patterns, kinds = list_requested(approval)
        action = f"Widen {approval.intent_id}"
        if is_plan(approval):
            action = f"Plan for {approval.intent_id}" if approval.intent_id else "Plan for this session"
        return ApprovalSubject("scope", action, "+ " + abbreviate([*patterns, *kinds]), "text")
    if approval.kind == Approval.Kind.COMPLETION:
        title = f"Complete {approval.intent_id}"
        return ApprovalSubject("completion", title, title, "text")
    if approval.kind == Approval.Kind.RUN:
        return _describe_run(approval)
    return _describe_call(approval)


def _describe_run(approval: Approval) -> ApprovalSubject:
    count = len(list_paths(approval))
    command = next(iter(str(approval.call.get("command", "")).strip().splitlines()), "")
    return ApprovalSubject("run", f"Land {count} file{'' if count == 1 else 's'} from", command, "command")


def _describe_call(approval: Approval) -> ApprovalSubject:
    resolved = resolve_approval_tool(approval)
    tool: Any = resolved.tool
    kind, action = ROW_KINDS.get(tool.kind, OTHER_KIND) if tool else OTHER_KIND, tool_verb(tool)
    if kind == "shell":
        command = extract_command(resolved)
        return ApprovalSubject(kind, action, next(iter(command.strip().splitlines()), ""), "command")
    paths = list_paths(approval)
    if is_read(approval):
        # An editor that only views, or a tool that no table knows: the gate saw nothing but reading.
        kind, action = "read", action if kind == "read" else "Read"
    if kind == "other" or (kind == "read" and not paths):
        return ApprovalSubject(kind, action, approval.tool, "text")
    if approval.error_type == ErrorType.STALE_FILE:
        kind = "stale"
    return ApprovalSubject(kind, action, abbreviate(paths), "path" if len(paths) == 1 else "text")


def abbreviate(names: list[str]) -> str:
    """Return the first name and the number of the others."""
    if len(names) < 2:
        return names[0] if names else ""
    return f"{names[0]} and {len(names) - 1} more"
