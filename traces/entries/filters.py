"""Filter trace entries for REST. The trace list page has filters of its own (`traces.browser.filters`)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet
from django.db.models.functions import Left

from traces.models import EntryKind, LedgerEntry, TraceFile


@dataclass(frozen=True, slots=True)
class TraceFilter:
    """Empty fields do not filter. `path` is a file, or a directory with everything below it.

    `since` (inclusive) and `until` (exclusive) compare with the entries' own timestamps.
    """

    intent: str = ""
    path: str = ""
    session: str = ""
    since: datetime | None = None
    until: datetime | None = None


def filter_traces(workspace_id: int, filters: TraceFilter) -> QuerySet[LedgerEntry]:
    """Return the matching trace entries, each with its body and leaf."""
    rows = LedgerEntry.objects.for_workspace(workspace_id).of_kind(EntryKind.TRACE)
    rows = rows.with_body_and_leaf()
    if filters.session:
        rows = rows.filter(session_id=filters.session)
    if filters.since:
        rows = rows.filter(trace__changed_at__gte=filters.since)
    if filters.until:
        rows = rows.filter(trace__changed_at__lt=filters.until)
    if filters.path:
        return rows.filter(pk__in=_find_entry_ids_by_file(workspace_id, filters))
    if filters.intent:
        return rows.filter(
            Q(intent_id=filters.intent) | Q(pk__in=_find_entry_ids_by_file(workspace_id, filters))
        )
    return rows


def _find_entry_ids_by_file(workspace_id: int, filters: TraceFilter) -> QuerySet[TraceFile, int]:
    """Return the row ids of entries with a file that matches path and intent."""
    files = TraceFile.objects.filter(workspace_id=workspace_id)
    if filters.intent:
        files = files.filter(intent_id=filters.intent)
    if filters.path:
        directory = filters.path.rstrip("/") + "/"
        # startswith would become LIKE, which ignores case on SQLite.
        files = files.annotate(head=Left("path", len(directory))).filter(
            Q(path=filters.path) | Q(head=directory)
        )
    return files.values_list("entry_id", flat=True)
