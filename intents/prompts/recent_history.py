"""Summarize the ledger entries, files and lessons of an intent for its prompts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Max, Q

from controlplane.policy.calls.resolve_tool import resolve_tool
from controlplane.policy.calls.toolsets.kinds import ToolKind
from controlplane.policy.model import ToolCall, ToolClass
from intents.models import Intent
from intents.prompts.context_xml import FileState, HistoryItem, PromptContext
from intents.prompts.lesson_selection import select_lessons
from intents.summaries import one_line
from traces.ledger.append import read_body
from traces.models import EntryKind, LedgerEntry, TraceFile

MAX_HISTORY = 20
MAX_EVENTS = 4  # revisions of the intent and approvals, beside the work
MAX_SCANNED = 500  # newest entries of the intent, of any kind
MAX_CHANGED_ROWS = 200  # newest rows of changed files
MAX_FILES = 50
_MAX_PATHS = 5
_MAX_OBJECT_LENGTH = 160
_COMMAND_KINDS = frozenset({ToolKind.SHELL, ToolKind.MONITOR})


def load_prompt_context(intent: Intent) -> PromptContext:
    """At most 8 queries where the intent was fetched with its workspace, whatever the size of the ledger."""
    selection = select_lessons(intent)
    return PromptContext(
        list_recent_history(intent), list_touched_files(intent), selection.notes(), selection.left_out
    )


def list_recent_history(intent: Intent) -> list[HistoryItem]:
    """Return what happened under the intent: changes and commands, then events, then one line of refusals.

    Each part is oldest first. Refusals take one line however many they are, so they never displace work.
    At most 3 queries, each bounded.
    """
    scan = _scan_entries(intent)
    bodies = _load_entries([*scan.commands[:MAX_HISTORY], *scan.refused[:1]])
    refusals = [_fold_refusals(scan, bodies)] if scan.refused else []
    events = [_item(row, _summarize_event(row)) for row in scan.events[:MAX_EVENTS]]
    work = sorted(_list_changes(intent) + _list_commands(scan, bodies), key=lambda each: -each[0])
    remaining = MAX_HISTORY - len(refusals) - len(events)
    return [*(item for _, item in work[:remaining][::-1]), *events[::-1], *refusals]


def list_touched_files(intent: Intent) -> list[FileState]:
    """Return files changed under the intent, latest first, in the newest state that the ledger has."""
    touched = TraceFile.objects.filter(workspace_id=intent.workspace_id, intent_id=intent.intent_id)
    latest = touched.values("path").annotate(last=Max("pk")).order_by("-last")[:MAX_FILES]
    paths = [row["path"] for row in latest]
    changes = TraceFile.objects.filter(workspace_id=intent.workspace_id, path__in=paths).order_by()
    newest = changes.values("path").annotate(live=Max("pk", filter=Q(imported=False)), last=Max("pk"))
    # Imported entries may be old although their keys are new: one that the server saw itself comes first.
    keys = [row["live"] or row["last"] for row in newest]
    rows = {row.path: row for row in TraceFile.objects.filter(pk__in=keys)}
    return [
        FileState(
            path=row.path,
            content_hash=row.content_hash,
            last_changed=row.changed_at.isoformat(timespec="seconds"),
            intent_id=row.intent_id,
        )
        for row in (rows[path] for path in paths)
    ]


@dataclass(frozen=True, slots=True)
class _Scan:
    """The newest entries of an intent by what became of them, each newest first."""

    commands: list[LedgerEntry] = field(default_factory=list)  # calls of a shell that were allowed
    events: list[LedgerEntry] = field(default_factory=list)
    refused: list[LedgerEntry] = field(default_factory=list)
    is_complete: bool = True


def _scan_entries(intent: Intent) -> _Scan:
    # Every kind is read: a condition on it would walk past any number of others to find enough.
    rows = LedgerEntry.objects.filter(workspace_id=intent.workspace_id, intent_id=intent.intent_id)
    newest = list(rows.order_by("-pk").defer("envelope", "leaf_hash", "body_digest")[:MAX_SCANNED])
    scan = _Scan(is_complete=len(newest) < MAX_SCANNED)
    approved: Counter[tuple[str, str]] = Counter()
    for entry in newest:
        call = (entry.session_id, entry.tool)
        if entry.kind == EntryKind.INTENT:
            scan.events.append(entry)
        elif entry.kind == EntryKind.APPROVAL and entry.outcome == "APPROVED":
            scan.events.append(entry)
            approved[call] += 1
        elif entry.kind == EntryKind.DECISION and entry.outcome != "allow":
            # A call that waited and was approved is not refused; its approval comes after it.
            if entry.outcome == "ask" and approved[call]:
                approved[call] -= 1
            else:
                scan.refused.append(entry)
        elif entry.kind == EntryKind.DECISION and _is_command(entry):
            scan.commands.append(entry)
    return scan


def _is_command(entry: LedgerEntry) -> bool:
    tool = resolve_tool(ToolCall(entry.tool, {}, agent=entry.agent)).tool
    return tool is not None and tool.kind in _COMMAND_KINDS


def _load_entries(entries: Iterable[LedgerEntry]) -> dict[int, dict[str, Any]]:
    """Map entries to their bodies; one that is redacted or archived is left out. 1 query, 0 for none."""
    keys = [entry.pk for entry in entries]
    if not keys:
        return {}
    rows = LedgerEntry.objects.filter(pk__in=keys).with_body()
    bodies = ((row.pk, read_body(row)) for row in rows.defer("envelope", "leaf_hash", "body_digest"))
    return {key: body for key, body in bodies if body is not None}


def _list_changes(intent: Intent) -> list[tuple[int, HistoryItem]]:
    """Return the newest changes with the row ids of their entries. 1 query."""
    rows = TraceFile.objects.filter(workspace_id=intent.workspace_id, intent_id=intent.intent_id)
    values = rows.order_by("-pk").values_list("entry_id", "path", "session_id", "entry__received_at")
    newest = list(values[:MAX_CHANGED_ROWS])
    paths: dict[int, set[str]] = {}
    origins: dict[int, tuple[datetime, str]] = {}
    for entry_id, path, session_id, received_at in newest:
        paths.setdefault(entry_id, set()).add(path)
        origins[entry_id] = (received_at, session_id)
    cut_off = newest[-1][0] if len(newest) == MAX_CHANGED_ROWS else None
    changes = []
    for entry_id, (received_at, session_id) in origins.items():
        summary = _summarize_change(sorted(paths[entry_id]), is_cut_off=entry_id == cut_off)
        changes.append((entry_id, HistoryItem(_format(received_at), summary, session_id)))
    return changes


def _summarize_change(paths: Sequence[str], *, is_cut_off: bool) -> str:
    hidden = len(paths) - _MAX_PATHS
    more = " and more" if is_cut_off else f" and {hidden} more" if hidden > 0 else ""
    return one_line(f"changed {', '.join(paths[:_MAX_PATHS])}{more}")


def _list_commands(scan: _Scan, bodies: dict[int, dict[str, Any]]) -> list[tuple[int, HistoryItem]]:
    """Return the commands that may have changed something; what only reads is no work."""
    return [
        (entry.pk, _item(entry, f"ran {_describe_object(entry, bodies[entry.pk])}"))
        for entry in scan.commands
        if bodies.get(entry.pk, {}).get("classification") == ToolClass.DESTRUCTIVE
    ]


def _fold_refusals(scan: _Scan, bodies: dict[int, dict[str, Any]]) -> HistoryItem:
    last = scan.refused[0]
    subject = " ".join(filter(None, (last.tool, _describe_object(last, bodies.get(last.pk, {})))))
    count = f"{'' if scan.is_complete else 'at least '}{len(scan.refused)} refused"
    return _item(last, f"{count}, last: {subject} ({last.error_type}, {last.reason})")


def _describe_object(entry: LedgerEntry, body: dict[str, Any]) -> str:
    """Return what a recorded call is about: its command, else the path that was refused or named."""
    resolved = resolve_tool(ToolCall(entry.tool, body.get("input"), agent=entry.agent))
    tool, data = resolved.tool, resolved.input
    if tool is not None and tool.kind in _COMMAND_KINDS and isinstance(data, dict):
        command = next(filter(None, map(data.get, tool.command)), "")
        text = " ".join(map(str, command)) if isinstance(command, list) else str(command)
    else:
        paths = body.get("offending") or body.get("targets") or body.get("reads") or []
        text = ", ".join(paths[:_MAX_PATHS])
    return one_line(text, _MAX_OBJECT_LENGTH)


def _summarize_event(entry: LedgerEntry) -> str:
    if entry.kind == EntryKind.APPROVAL:
        return f"approval {entry.outcome}: {entry.tool or entry.reason}"
    return f"intent {entry.outcome}"


def _item(entry: LedgerEntry, summary: str) -> HistoryItem:
    return HistoryItem(_format(entry.received_at), one_line(summary), entry.session_id)


def _format(time: datetime) -> str:
    return time.isoformat(timespec="seconds")
