"""Load recorded tool calls from the ledger, to replay their decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from controlplane.policy.model import HANDSHAKE_TOOL, ToolCall
from controlplane.policy.replay import INCOMPLETE, REDACTED, RecordedCall
from controlplane.shared.masking import MASK, is_cut
from traces.ledger.append import read_body
from traces.ledger.missing_bodies import MissingBodies
from traces.models import EntryKind, LedgerEntry

MAX_CALLS = 5_000
CHUNK = 500


@dataclass(frozen=True, slots=True)
class CallSelection:
    """The newest `limit` calls since a time, of one intent or of all."""

    since: datetime
    intent_id: str = ""
    limit: int = MAX_CALLS


def load_recorded_calls(
    workspace_id: int, selection: CallSelection, *, roots: Mapping[str, str], local_root: str = ""
) -> Iterator[RecordedCall]:
    """Yield calls, newest first, in chunks: 1 query per `CHUNK` on PostgreSQL, 1 in all on SQLite.

    `roots` maps session ids to their directories, which the ledger does not record.
    """
    entries = (
        LedgerEntry.objects.for_workspace(workspace_id)
        .of_kind(EntryKind.DECISION)
        .filter(received_at__gte=selection.since)
        .exclude(tool=HANDSHAKE_TOOL)
    )
    if selection.intent_id:
        entries = entries.filter(intent_id=selection.intent_id)
    newest = entries.with_body_and_leaf().newest_first()[: selection.limit]
    missing_bodies = MissingBodies(workspace_id)
    for entry in newest.iterator(chunk_size=CHUNK):
        yield to_recorded_call(entry, missing_bodies, root=roots.get(entry.session_id, "") or local_root)


def find_decision(workspace_id: int, decision_id: str) -> LedgerEntry | None:
    """Return the decision with its body. 1 query."""
    decisions = LedgerEntry.objects.for_workspace(workspace_id).of_kind(EntryKind.DECISION).with_body()
    return decisions.filter(entry_id=decision_id).first()


def to_recorded_call(
    entry: LedgerEntry, missing_bodies: MissingBodies | None = None, *, root: str = ""
) -> RecordedCall:
    """Convert a decision to the call that was decided. 0 queries when the body was fetched with it."""
    body = read_body(entry)
    if body is None:
        missing = (missing_bodies or MissingBodies(entry.workspace_id)).explain(entry)
        lost = f"its content is archived in {missing.file}" if missing.archived else REDACTED
    else:
        lost = "" if is_complete_input(body.get("input")) else INCOMPLETE
    fields = body or {}
    return RecordedCall(
        decision_id=entry.entry_id,
        at=entry.received_at,
        session_id=entry.session_id,
        intent_id=entry.intent_id,
        tool=entry.tool,
        verdict=entry.outcome,
        reason=entry.reason,
        tool_class=str(fields.get("classification", "")).upper(),
        targets=tuple(fields.get("targets") or ()),
        call=None if lost else _build_call(entry, fields, root),
        unreplayable_reason=lost,
    )


def is_complete_input(value: Any) -> bool:
    """Return whether nothing in a stored input was masked or cut."""
    if isinstance(value, str):
        return MASK not in value and not is_cut(value)
    if isinstance(value, dict):
        return all(is_complete_input(key) and is_complete_input(item) for key, item in value.items())
    return all(map(is_complete_input, value)) if isinstance(value, list) else True


def _build_call(entry: LedgerEntry, body: dict[str, Any], root: str) -> ToolCall:
    cwd = body.get("cwd") or None
    return ToolCall(
        tool=entry.tool,
        input=body.get("input"),
        root=body.get("root") or root or cwd,
        cwd=cwd,
        agent=entry.agent,
        call_id=body.get("tool_use_id"),
    )
