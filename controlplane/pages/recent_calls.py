"""Recent gate decisions as one-line rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from controlplane.policy.calls.input_fields import list_paths
from controlplane.policy.calls.resolve_tool import ResolvedTool, resolve_tool
from controlplane.policy.calls.toolsets.kinds import ToolKind
from controlplane.policy.model import ToolCall
from controlplane.templatetags.names import agent_title, call_verb
from sessions.approvals.card.command import extract_command
from sessions.approvals.card.subjects import ROW_KINDS
from traces.ledger.append import read_body
from traces.models import EntryKind, LedgerEntry

if TYPE_CHECKING:
    from datetime import datetime

MAX_OBJECT_LENGTH = 120  # characters
READING_KINDS = frozenset({ToolKind.READ, ToolKind.SEARCH, ToolKind.GLOB})


@dataclass(frozen=True, slots=True)
class RecentCall:
    """`text` is a verb, `object` what the call acts on; `object_is` path, command or text."""

    number: int  # of its entry
    at: datetime
    outcome: str
    agent: str
    session_id: str
    text: str
    object: str
    object_is: str


def list_recent_calls(workspace_id: int, limit: int, *, above: int = 0) -> list[RecentCall]:
    """Return the newest decisions first, of entries above a number. 1 query."""
    entries = LedgerEntry.objects.for_workspace(workspace_id).of_kind(EntryKind.DECISION).above(above)
    return [_to_recent_call(entry) for entry in entries.with_body().newest_first()[:limit]]


def _to_recent_call(entry: LedgerEntry) -> RecentCall:
    body = read_body(entry) or {}
    action, subject, subject_kind = _describe_call(entry, body)
    return RecentCall(
        number=entry.pk,
        at=entry.received_at,
        outcome="override" if "override" in body else entry.outcome,
        agent=agent_title(entry.agent),
        session_id=entry.session_id,
        text=action,
        object=subject[:MAX_OBJECT_LENGTH],
        object_is=subject_kind,
    )


def _describe_call(entry: LedgerEntry, body: dict[str, Any]) -> tuple[str, str, str]:
    """Return verb, object and kind of object. A call without targets shows what it reads."""
    resolved = resolve_tool(ToolCall(tool=entry.tool, input=body.get("input"), agent=entry.agent))
    action = call_verb(entry.tool, body.get("input"), entry.agent)
    if resolved.tool and ROW_KINDS.get(resolved.tool.kind) == "shell":
        return action, next(iter(extract_command(resolved).strip().splitlines()), ""), "command"
    paths = body.get("targets") or _list_read_paths(resolved)
    if not paths:
        return action, "", "text"
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return action, paths[0] + more, "text" if more else "path"


def _list_read_paths(resolved: ResolvedTool) -> list[str]:
    if (
        resolved.tool is None
        or resolved.tool.kind not in READING_KINDS
        or not isinstance(resolved.input, Mapping)
    ):
        return []
    return [path for path in list_paths(resolved.input) if isinstance(path, str)]
