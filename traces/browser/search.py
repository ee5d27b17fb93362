"""Find the entries that match filters, newest first and a page at a time.

A page is read along an index in the order of row ids. A filter on files has two plans: from entries to their
files, which is fast when many entries match, and from files to their entries, which is fast when few do.
Database planners guess wrongly here, so stored counts decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from heapq import merge
from itertools import islice

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Left
from django.db.models.lookups import IsNull

from traces.browser.filters import EntryFilters
from traces.counts.counters import MONTH
from traces.entries.mutation_class_check import CLASS_DISAGREES, ClassCheck
from traces.models import EntryCount, EntryKind, FileCount, LedgerEntry, TraceFile
from traces.search_index.lookup import TermCondition, find_matching_entries

COLUMN_NAMES = {"intent": "intent_id"}  # the others are called as in the query string
ENTRY_FIELDS = ("kind", "outcome", "agent", "intent", "tool", "reason")
MAX_INDEXED_ENTRIES = 10_000  # entries; up to here, going from files to entries is fast
MAX_PATHS = 2_000
Entries = QuerySet[LedgerEntry]
Condition = Q | Exists | IsNull
# Servers' clocks differ, so the order of row ids may differ that much from the order of times.
MAX_CLOCK_SKEW = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class QueryBranch:
    """Matching entries along one index. `scans`: rows are probed one by one, although many of them match."""

    entries: Entries
    scans: bool = False


@dataclass(frozen=True, slots=True)
class EntryPage:
    """One page of row ids, newest first, and whether there are older and newer ones."""

    ids: list[int]
    has_older: bool
    has_newer: bool


def build_branches(
    workspace_id: int, filters: EntryFilters, uncounted: Sequence[int], *, matching: int | None = None
) -> list[QueryBranch]:
    """Build one query, or several where a filter means "or", so that each can use an index of its own.

    `uncounted` are ids of entries that stored counts do not include yet. `matching` is the number of matching
    entries, where known. At most 8 queries.
    """
    base: QuerySet[LedgerEntry] = LedgerEntry.objects.for_workspace(workspace_id).filter(
        build_value_condition(filters, ENTRY_FIELDS)
    )
    if filters.values("reason") == (ClassCheck.DISAGREES,):
        # Implied, but the planner needs it to use the partial index.
        base = base.filter(CLASS_DISAGREES, kind=EntryKind.TRACE)
    base = _filter_by_folder(
        workspace_id, base, filters, is_small=matching is not None and matching <= MAX_INDEXED_ENTRIES
    )
    if filters.session:
        base = base.filter(session_id=filters.session)
    base = _filter_by_time(workspace_id, base, filters)
    branches = [QueryBranch(base)]
    if filters.path:
        branches = _split(branches, _find_path(workspace_id, filters.path, uncounted))
    if filters.text:
        branches = _split(branches, _find_mentions(workspace_id, filters.text, uncounted))
    return branches


def load_page(
    branches: Sequence[QueryBranch], limit: int, *, before: int | None = None, after: int | None = None
) -> EntryPage:
    """Return the newest page, the one before a row id or the one after it.

    1 query per branch and direction.
    """
    if after is not None:
        ids = list_oldest_ids(branches, after, limit + 1)
        return EntryPage(ids[:limit][::-1], has_older=bool(ids), has_newer=len(ids) > limit)
    ids = list_newest_ids(branches, limit + 1, before=before)
    return EntryPage(ids[:limit], has_older=len(ids) > limit, has_newer=before is not None and bool(ids))


def list_newest_ids(branches: Iterable[QueryBranch], limit: int, *, before: int | None = None) -> list[int]:
    querysets = [
        branch.entries if before is None else branch.entries.filter(pk__lt=before) for branch in branches
    ]
    ids = [list(queryset.order_by("-pk").values_list("pk", flat=True)[:limit]) for queryset in querysets]
    return list(islice(dict.fromkeys(merge(*ids, reverse=True)), limit))


def list_oldest_ids(branches: Iterable[QueryBranch], after: int, limit: int) -> list[int]:
    """Return row ids above `after`, lowest first."""
    querysets = [branch.entries.filter(pk__gt=after) for branch in branches]
    ids = [list(queryset.order_by("pk").values_list("pk", flat=True)[:limit]) for queryset in querysets]
    return list(islice(dict.fromkeys(merge(*ids)), limit))


def load_entries(ids: Sequence[int]) -> list[LedgerEntry]:
    """Return entries with body, leaf and files, in the order of `ids`. 2 queries."""
    rows = LedgerEntry.objects.filter(pk__in=ids).with_body_and_leaf().prefetch_related("files")
    by_id = {row.pk: row for row in rows}
    return [by_id[pk] for pk in ids if pk in by_id]


@dataclass(frozen=True, slots=True)
class PathCondition:
    """A condition on the paths of files, and the annotations that it needs.

    `file` is looked up in any case: right after a large import its entries are not counted yet.
    """

    condition: Q
    annotations: dict[str, Left]
    file: str = ""

    def find_entries(self, workspace_id: int, uncounted: Sequence[int]) -> tuple[Condition, bool]:
        """Return (condition on entries with such a file, whether it scans). 2 queries."""
        counts = FileCount.objects.filter(workspace_id=workspace_id).alias(**self.annotations)
        rows = list(counts.filter(self.condition).values_list("path", "entries")[: MAX_PATHS + 1])
        if len(rows) > MAX_PATHS or sum(entries for _, entries in rows) > MAX_INDEXED_ENTRIES:
            files = TraceFile.objects.filter(entry=OuterRef("pk")).alias(**self.annotations)
            # Not an EXISTS: PostgreSQL would turn it into a walk through all files.
            return IsNull(Subquery(files.filter(self.condition).values("pk")[:1]), False), True
        new_files = (
            TraceFile.objects.filter(entry__in=uncounted).alias(**self.annotations).filter(self.condition)
        )
        paths = {path for path, _ in rows} | set(new_files.values_list("path", flat=True).distinct())
        paths |= {self.file} - {""}
        files = TraceFile.objects.filter(workspace_id=workspace_id, path__in=sorted(paths))
        return Q(pk__in=files.values("entry_id")), False


def _split(
    branches: Iterable[QueryBranch], conditions: Sequence[tuple[Condition, bool]]
) -> list[QueryBranch]:
    """Return one branch for each branch and each of the conditions, of which any may hold."""
    return [
        QueryBranch(branch.entries.filter(condition), branch.scans or scans)
        for branch in branches
        for condition, scans in conditions
    ]


def _find_path(workspace_id: int, path: str, uncounted: Sequence[int]) -> list[tuple[Condition, bool]]:
    """Return (condition, whether it scans) for changes of a file or directory, and for calls that name it."""
    prefix = path.rstrip("/") + "/"
    files = PathCondition(Q(head=prefix) | Q(path=path), {"head": Left("path", len(prefix))}, path)
    return [
        files.find_entries(workspace_id, uncounted),
        *find_matching_entries(workspace_id, TermCondition.from_path(path)),
    ]


def build_value_condition(filters: EntryFilters, fields: Iterable[str]) -> Q:
    """Build the condition for the values of these fields.

    A single value becomes `=`, which suits indexes best.
    """
    condition = Q()
    for field in fields:
        column = COLUMN_NAMES.get(field, field)
        if values := filters.values(field):
            condition &= Q(**{f"{column}__in": values}) if len(values) > 1 else Q(**{column: values[0]})
        if values := filters.values(field, excluded=True):
            condition &= ~Q(**{f"{column}__in": values})
    return condition


def _filter_by_folder(
    workspace_id: int, entries: Entries, filters: EntryFilters, *, is_small: bool
) -> Entries:
    """Filter by the directory of the first file; "" stands for entries without files."""
    entry_files = TraceFile.objects.filter(entry=OuterRef("pk"))
    if values := filters.values("folder"):
        if is_small and "" not in values:
            files = TraceFile.objects.filter(workspace_id=workspace_id, lead_folder__in=values)
            entries = entries.filter(pk__in=files.values("entry_id"))
        else:
            condition = Exists(entry_files.filter(lead_folder__in=[value for value in values if value]))
            entries = entries.filter(condition | ~Exists(entry_files) if "" in values else condition)
    for value in filters.values("folder", excluded=True):
        entries = entries.filter(
            ~Exists(entry_files.filter(lead_folder=value)) if value else Exists(entry_files)
        )
    return entries


def _filter_by_time(workspace_id: int, entries: Entries, filters: EntryFilters) -> Entries:
    """Filter by time, and by the row ids that the time implies. 2 queries."""
    received = LedgerEntry.objects.for_workspace(workspace_id).order_by("received_at")
    if filters.since:
        first = (
            received.filter(received_at__gte=filters.since - MAX_CLOCK_SKEW)
            .values_list("pk", flat=True)
            .first()
        )
        entries = entries.filter(received_at__gte=filters.since)
        entries = entries.filter(pk__gte=first) if first else entries.none()
    if filters.until:
        entries = entries.filter(received_at__lt=filters.until)
        last = (
            received.filter(received_at__gte=filters.until + MAX_CLOCK_SKEW)
            .values_list("pk", flat=True)
            .first()
        )
        entries = entries.filter(pk__lte=last) if last else entries
    return entries


def _find_mentions(workspace_id: int, text: str, uncounted: Sequence[int]) -> list[tuple[Condition, bool]]:
    """Return (condition, whether it scans) per place where the text occurs, ignoring case.

    It may be a complete id, or part of an agent's name, a tool's name, a path, a command, or the id of an
    approval or a commit. Places without a match are left out: no single index serves them all, so each is a
    query of its own.
    """
    entries = LedgerEntry.objects.for_workspace(workspace_id)
    ids = entries.filter(kind__in=EntryKind.values, entry_id=text).values_list("pk", flat=True)
    conditions: list[tuple[Condition, bool]] = [(Q(pk__in=list(ids)), False)]
    exact = [{name: text} for name in ("session_id", "intent_id")]
    conditions += [(Q(**lookup), False) for lookup in exact if entries.filter(**lookup).exists()]
    counts = EntryCount.objects.filter(workspace_id=workspace_id, span=MONTH).order_by()
    new_entries = LedgerEntry.objects.filter(pk__in=uncounted).order_by()
    contains = Q(agent__icontains=text) | Q(tool__icontains=text)
    pairs = {*counts.filter(contains).values_list("agent", "tool").distinct()}
    pairs |= {*new_entries.filter(contains).values_list("agent", "tool").distinct()}
    for column, names in zip(("agent", "tool"), zip(*pairs, strict=True), strict=False):
        matching = sorted({name for name in names if text.casefold() in name.casefold()})
        conditions += [(Q(**{f"{column}__in": matching}), False)] if matching else []
    conditions.append(PathCondition(Q(path__icontains=text), {}).find_entries(workspace_id, uncounted))
    return conditions + find_matching_entries(workspace_id, TermCondition.from_text(text))
