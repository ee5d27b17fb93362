"""Load the timeline of a session: calls, approvals and traces in order, with runs of similar calls folded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import Q, QuerySet

from traces.models import EntryKind, LedgerEntry
from traces.search_index.lookup import find_session_mentions
from traces.timeline.describe_entries import TimelineRow
from traces.timeline.held_calls import describe_folded

HIDDEN_KINDS = (
    EntryKind.INTENT,
    EntryKind.POLICY,
    EntryKind.REDACTION,
    EntryKind.IMPORT,
)  # not SHOWN: SQLite would choose the index of kinds
PAGE_SIZE = 200
ROWS_BEFORE_ENTRY = 30  # rows above an entry that a link leads to


@dataclass(frozen=True, slots=True)
class Timeline:
    """One page of rows in order. `earlier` and `later` are cursors (row ids), None at the ends."""

    rows: list[TimelineRow]
    earlier: int | None = None
    later: int | None = None


@dataclass(frozen=True, slots=True)
class TimelineWindow:
    """Which page to load: the one `after` or `before` a cursor, that of an `entry`, or else the newest.

    `only_changes` leaves out allowed calls; `text` is searched in paths, commands, tools and ids; `since`
    (inclusive) and `until` (exclusive) are times.
    """

    after: int | None = None
    before: int | None = None
    limit: int = PAGE_SIZE
    only_changes: bool = False
    text: str = ""
    since: datetime | None = None
    until: datetime | None = None
    entry: int | None = None


def load_timeline(workspace_id: int, session_id: str, window: TimelineWindow = TimelineWindow()) -> Timeline:
    """Load one page of a timeline. 2 queries, 1 more around an entry, 2 where bodies are missing."""
    entries = _filter_entries(workspace_id, session_id, window)
    if window.entry is not None:
        above = entries.filter(pk__lt=window.entry).order_by("-pk").values_list("pk", flat=True)
        before = list(above[ROWS_BEFORE_ENTRY : ROWS_BEFORE_ENTRY + 1])
        window = replace(window, after=before[0] if before else 0)
    if window.after is not None:
        page = list(entries.filter(pk__gt=window.after).order_by("pk")[: window.limit + 1])
        has_more, page = len(page) > window.limit, page[: window.limit]
        previous = page[0].pk if page and window.after else None
        return Timeline(fold_rows(page), previous, page[-1].pk if has_more else None)
    if window.before is not None:
        entries = entries.filter(pk__lt=window.before)
    page = list(entries.order_by("-pk")[: window.limit + 1])
    has_more, page = len(page) > window.limit, page[: window.limit][::-1]
    later = page[-1].pk if window.before is not None and page else None
    return Timeline(fold_rows(page), page[0].pk if has_more else None, later)


def fold_rows(entries: list[LedgerEntry]) -> list[TimelineRow]:
    """Describe entries in order; make one row of each held call, and of adjacent safe calls of one tool."""
    rows: list[TimelineRow] = []
    for row in describe_folded(entries):
        if rows and _can_fold(rows[-1], row):
            rows[-1].members = [*(rows[-1].members or [replace(rows[-1])]), row]
            rows[-1].numbers += row.numbers
            rows[-1].times += 1
        else:
            rows.append(row)
    return rows


def _can_fold(previous: TimelineRow, row: TimelineRow) -> bool:
    both = (previous, row)
    return previous.tool == row.tool and all(
        row.kind == "call" and row.safe and row.outcome == "allow" for row in both
    )


def _filter_entries(workspace_id: int, session_id: str, window: TimelineWindow) -> QuerySet[LedgerEntry]:
    entries = LedgerEntry.objects.for_workspace(workspace_id).of_session(session_id)
    entries = entries.exclude(kind__in=HIDDEN_KINDS)
    if window.only_changes:
        entries = entries.exclude(kind=EntryKind.DECISION, outcome="allow")
    if window.since:
        entries = entries.filter(received_at__gte=window.since)
    if window.until:
        entries = entries.filter(received_at__lt=window.until)
    if window.text:
        matches = Q(tool__icontains=window.text) | Q(entry_id=window.text) | Q(intent_id=window.text)
        matches |= Q(error_type__icontains=window.text) | Q(files__path__icontains=window.text)
        matches |= find_session_mentions(workspace_id, window.text)
        entries = entries.filter(matches).distinct()
    return entries.with_body_and_leaf().prefetch_related("files")
