"""Which entries fit, newest first, a page at a time: fast for the commonest values and for the rarest.

A page is read along an index in the order of row ids. Where a filter speaks of files there are two ways: from
the entries to their files, which is quick when much fits, and from the files to their entries, which is quick
when little does. Databases guess wrongly here, so it is decided by numbers that are known.
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
from traces.entries.mutation_class_check import DISAGREES, Check
from traces.models import EntryCount, FileCount, Kind, LedgerEntry, TraceFile

COLUMN_NAMES = {"intent": "intent_id"}  # the others are called as in the address
ENTRY_FIELDS = ("kind", "outcome", "agent", "intent", "tool", "reason")
MAX_RARE = 10_000  # entries; up to here the way from the files is quick
MAX_PATHS = 2_000
Entries = QuerySet[LedgerEntry]
Condition = Q | Exists | IsNull
MAX_CLOCK_SKEW = timedelta(
    minutes=5
)  # between the clocks of servers, so between the order of ids and that of times


@dataclass(frozen=True, slots=True)
class QueryBranch:
    """Entries that fit, along one index. `probing`: each has to be looked at, though many of them fit."""

    entries: Entries
    scans: bool = False


@dataclass(frozen=True, slots=True)
class EntryPage:
    """A page of row ids, newest first, and whether there are older and newer ones."""

    ids: list[int]
    older: bool
    newer: bool


def build_branches(
    workspace_id: int, filters: EntryFilters, uncounted: Sequence[int], *, matching: int | None = None
) -> list[QueryBranch]:
    """The ways to what fits: one, or where a filter says "or" several, each with an index of its own.

    `fresh` are the entries that are not counted yet. `known` is how many entries fit, where that is known.
    At most 8 queries.
    """
    base: QuerySet[LedgerEntry] = LedgerEntry.objects.for_workspace(workspace_id).filter(
        build_value_condition(filters, ENTRY_FIELDS)
    )
    if filters.values("reason") == (Check.DISAGREES,):
        base = base.filter(DISAGREES, kind=Kind.TRACE)  # said twice, so that their own index serves
    base = _filter_by_folder(workspace_id, base, filters, rare=matching is not None and matching <= MAX_RARE)
    if filters.session:
        base = base.filter(session_id=filters.session)
    base = _filter_by_time(workspace_id, base, filters)
    scans = False
    if filters.path:
        prefix = filters.path.rstrip("/") + "/"
        path = Q(head=prefix) | Q(path=filters.path)
        files = PathCondition(path, {"head": Left("path", len(prefix))})
        condition, scans = files.find_entries(workspace_id, uncounted)
        base = base.filter(condition)
    if not filters.text:
        return [QueryBranch(base, scans)]
    mentions = _find_mentions(workspace_id, filters.text, uncounted)
    return [QueryBranch(base.filter(condition), scans or many) for condition, many in mentions]


def load_page(
    branches: Sequence[QueryBranch], limit: int, *, before: int | None = None, after: int | None = None
) -> EntryPage:
    """The newest page, the one `before` a row id, or the one `after` it. 1 query a branch and direction."""
    if after is not None:
        ids = list_oldest_ids(branches, after, limit + 1)
        return EntryPage(ids[:limit][::-1], older=bool(ids), newer=len(ids) > limit)
    ids = list_newest_ids(branches, limit + 1, before=before)
    return EntryPage(ids[:limit], older=len(ids) > limit, newer=before is not None and bool(ids))


def list_newest_ids(branches: Iterable[QueryBranch], limit: int, *, before: int | None = None) -> list[int]:
    querysets = [
        branch.entries if before is None else branch.entries.filter(pk__lt=before) for branch in branches
    ]
    ids = [list(queryset.order_by("-pk").values_list("pk", flat=True)[:limit]) for queryset in querysets]
    return list(islice(dict.fromkeys(merge(*ids, reverse=True)), limit))


def list_oldest_ids(branches: Iterable[QueryBranch], after: int, limit: int) -> list[int]:
    """Row ids above `after`, the lowest first."""
    querysets = [branch.entries.filter(pk__gt=after) for branch in branches]
    ids = [list(queryset.order_by("pk").values_list("pk", flat=True)[:limit]) for queryset in querysets]
    return list(islice(dict.fromkeys(merge(*ids)), limit))


def load_entries(ids: Sequence[int]) -> list[LedgerEntry]:
    """The entries with body, place and files, in the order of `ids`. 2 queries."""
    rows = LedgerEntry.objects.filter(pk__in=ids).with_body_and_leaf().prefetch_related("files")
    by_id = {row.pk: row for row in rows}
    return [by_id[pk] for pk in ids if pk in by_id]


@dataclass(frozen=True, slots=True)
class PathCondition:
    """A condition on the paths of files, with what has to be annotated for it."""

    condition: Q
    annotations: dict[str, Left]

    def find_entries(self, workspace_id: int, uncounted: Sequence[int]) -> tuple[Condition, bool]:
        """The condition that an entry has such a file, and whether that means probing. 2 queries.

        Where much fits it is a value: an EXISTS PostgreSQL would turn into a walk through all files.
        """
        counts = FileCount.objects.filter(workspace_id=workspace_id).alias(**self.annotations)
        rows = list(counts.filter(self.condition).values_list("path", "entries")[: MAX_PATHS + 1])
        if len(rows) > MAX_PATHS or sum(entries for _, entries in rows) > MAX_RARE:
            files = TraceFile.objects.filter(entry=OuterRef("pk")).alias(**self.annotations)
            return IsNull(Subquery(files.filter(self.condition).values("pk")[:1]), False), True
        new_files = (
            TraceFile.objects.filter(entry__in=uncounted).alias(**self.annotations).filter(self.condition)
        )
        paths = {path for path, _ in rows} | set(new_files.values_list("path", flat=True).distinct())
        files = TraceFile.objects.filter(workspace_id=workspace_id, path__in=sorted(paths))
        return Q(pk__in=files.values("entry_id")), False


def build_value_condition(filters: EntryFilters, fields: Iterable[str]) -> Q:
    """The chosen values of these names, without those left out; one value by `=`, which indexes like."""
    condition = Q()
    for field in fields:
        column = COLUMN_NAMES.get(field, field)
        if values := filters.values(field):
            condition &= Q(**{f"{column}__in": values}) if len(values) > 1 else Q(**{column: values[0]})
        if values := filters.values(field, excluded=True):
            condition &= ~Q(**{f"{column}__in": values})
    return condition


def _filter_by_folder(workspace_id: int, entries: Entries, filters: EntryFilters, *, rare: bool) -> Entries:
    """By the folder of the first file; "" is that of entries without files."""
    entry_files = TraceFile.objects.filter(entry=OuterRef("pk"))
    if values := filters.values("folder"):
        if rare and "" not in values:
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
    """By time, and by the row ids that this implies, so that an index in their order serves. 2 queries."""
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
    """A text as a whole id, or as a part of an agent's or a tool's name or of a path, whatever its case.

    Each way is looked at by itself, as no index serves them all; those that lead nowhere are left out.
    """
    entries = LedgerEntry.objects.for_workspace(workspace_id)
    ids = entries.filter(kind__in=Kind.values, entry_id=text).values_list("pk", flat=True)
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
    return [*conditions, PathCondition(Q(path__icontains=text), {}).find_entries(workspace_id, uncounted)]
