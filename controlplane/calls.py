"""Decisions of the gate in a line each, for pages that show what happened lately."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from controlplane.policy.model import ToolCall
from controlplane.policy.tools import resolve
from sessions.agents import agent_title
from sessions.command_view import command_of
from sessions.subjects import OTHER, WORDS
from traces.ledger import body_of
from traces.models import Kind, LedgerEntry

if TYPE_CHECKING:
    from datetime import datetime

OBJECT_MOST = 120  # characters


@dataclass(frozen=True, slots=True)
class CallLine:
    """`text` says what was to be done to `object`, which is a path, a command or a text."""

    at: datetime
    outcome: str
    agent: str
    session_id: str
    text: str
    object: str
    object_is: str


def latest_calls(workspace_id: int, most: int) -> list[CallLine]:
    """Newest first. 1 query."""
    entries = LedgerEntry.objects.filter(workspace_id=workspace_id, kind=Kind.DECISION)
    return [_line(entry) for entry in entries.select_related("body").order_by("-pk")[:most]]


def _line(entry: LedgerEntry) -> CallLine:
    body = body_of(entry) or {}
    verb, what, what_is = _words(entry, body)
    return CallLine(
        at=entry.received_at,
        outcome="override" if "override" in body else entry.outcome,
        agent=agent_title(entry.agent),
        session_id=entry.session_id,
        text=verb,
        object=what[:OBJECT_MOST],
        object_is=what_is,
    )


def _words(entry: LedgerEntry, body: dict[str, Any]) -> tuple[str, str, str]:
    resolved = resolve(ToolCall(tool=entry.tool, input=body.get("input"), agent=entry.agent))
    kind, verb = WORDS.get(resolved.tool.kind, OTHER) if resolved.tool else OTHER
    if kind == "shell":
        return verb, next(iter(command_of(resolved).strip().splitlines()), ""), "command"
    targets = body.get("targets") or []
    if not targets:
        return verb, entry.tool, "text"
    more = f" and {len(targets) - 1} more" if len(targets) > 1 else ""
    return verb, targets[0] + more, "text" if more else "path"
