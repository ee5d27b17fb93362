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

from traces.browser.filters import Wanted
from traces.counts.counters import MONTH
from traces.counts.models import EntryCount, FileCount
from traces.entries.mutation_class_check import DISAGREES, Check
from traces.models import Kind, LedgerEntry, TraceFile

COLUMNS = {"intent": "intent_id"}  # the others are called as in the address
ENTRY_VALUES = ("kind", "outcome", "agent", "intent", "tool", "reason")
RARE = 10_000  # entries; up to here the way from the files is quick
MAX_PATHS = 2_000
Entries = QuerySet[LedgerEntry]
Condition = Q | Exists | IsNull
SKEW = timedelta(minutes=5)  # between the clocks of servers, so between the order of ids and that of times


@dataclass(frozen=True, slots=True)
class Way:
    """Entries that fit, along one index. `probing`: each has to be looked at, though many of them fit."""

    entries: Entries
    probing: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A page of row ids, newest first, and whether there are older and newer ones."""

    ids: list[int]
    older: bool
    newer: bool


def branches(
    workspace_id: int, wanted: Wanted, fresh: Sequence[int], *, known: int | None = None
) -> list[Way]:
    """The ways to what fits: one, or where a filter says "or" several, each with an index of its own.

    `fresh` are the entries that are not counted yet. `known` is how many entries fit, where that is known.
    At most 8 queries.
    """
    base = LedgerEntry.objects.filter(having(wanted, ENTRY_VALUES), workspace_id=workspace_id)
    if wanted.values("reason") == (Check.DISAGREES,):
        base = base.filter(DISAGREES, kind=Kind.TRACE)  # said twice, so that their own index serves
    base = _folders(workspace_id, base, wanted, rare=known is not None and known <= RARE)
    if wanted.session:
        base = base.filter(session_id=wanted.session)
    base = _in_time(workspace_id, base, wanted)
    probing = False
    if wanted.path:
        prefix = wanted.path.rstrip("/") + "/"
        path = Q(head=prefix) | Q(path=wanted.path)
        files = PathSearch(path, {"head": Left("path", len(prefix))})
        condition, probing = files.among(workspace_id, fresh)
        base = base.filter(condition)
    if not wanted.text:
        return [Way(base, probing)]
    mentions = _mentions(workspace_id, wanted.text, fresh)
    return [Way(base.filter(condition), probing or many) for condition, many in mentions]


def page(found: Sequence[Way], most: int, *, before: int | None = None, after: int | None = None) -> Found:
    """The newest page, the one `before` a row id, or the one `after` it. 1 query a branch and direction."""
    if after is not None:
        ids = oldest(found, after, most + 1)
        return Found(ids[:most][::-1], older=bool(ids), newer=len(ids) > most)
    ids = newest(found, most + 1, before=before)
    return Found(ids[:most], older=len(ids) > most, newer=before is not None and bool(ids))


def newest(found: Iterable[Way], most: int, *, before: int | None = None) -> list[int]:
    rows = [one.entries if before is None else one.entries.filter(pk__lt=before) for one in found]
    ordered = [list(some.order_by("-pk").values_list("pk", flat=True)[:most]) for some in rows]
    return list(islice(dict.fromkeys(merge(*ordered, reverse=True)), most))


def oldest(found: Iterable[Way], after: int, most: int) -> list[int]:
    """Row ids above `after`, the lowest first."""
    rows = [one.entries.filter(pk__gt=after) for one in found]
    ordered = [list(some.order_by("pk").values_list("pk", flat=True)[:most]) for some in rows]
    return list(islice(dict.fromkeys(merge(*ordered)), most))


def fetched(ids: Sequence[int]) -> list[LedgerEntry]:
    """The entries with body, place and files, in the order of `ids`. 2 queries."""
    rows = LedgerEntry.objects.filter(pk__in=ids).select_related("body", "leaf").prefetch_related("files")
    by_id = {row.pk: row for row in rows}
    return [by_id[pk] for pk in ids if pk in by_id]


@dataclass(frozen=True, slots=True)
class PathSearch:
    """A condition on the paths of files, with what has to be annotated for it."""

    condition: Q
    annotations: dict[str, Left]

    def among(self, workspace_id: int, fresh: Sequence[int]) -> tuple[Condition, bool]:
        """The condition that an entry has such a file, and whether that means probing. 2 queries.

        Where much fits it is a value: an EXISTS PostgreSQL would turn into a walk through all files.
        """
        kept = FileCount.objects.filter(workspace_id=workspace_id).alias(**self.annotations)
        rows = list(kept.filter(self.condition).values_list("path", "entries")[: MAX_PATHS + 1])
        if len(rows) > MAX_PATHS or sum(entries for _, entries in rows) > RARE:
            files = TraceFile.objects.filter(entry=OuterRef("pk")).alias(**self.annotations)
            return IsNull(Subquery(files.filter(self.condition).values("pk")[:1]), False), True
        new = TraceFile.objects.filter(entry__in=fresh).alias(**self.annotations).filter(self.condition)
        paths = {path for path, _ in rows} | set(new.values_list("path", flat=True).distinct())
        files = TraceFile.objects.filter(workspace_id=workspace_id, path__in=sorted(paths))
        return Q(pk__in=files.values("entry_id")), False


def having(wanted: Wanted, names: Iterable[str]) -> Q:
    """The chosen values of these names, without those left out; one value by `=`, which indexes like."""
    condition = Q()
    for name in names:
        column = COLUMNS.get(name, name)
        if values := wanted.values(name):
            condition &= Q(**{f"{column}__in": values}) if len(values) > 1 else Q(**{column: values[0]})
        if values := wanted.values(name, excluded=True):
            condition &= ~Q(**{f"{column}__in": values})
    return condition


def _folders(workspace_id: int, entries: Entries, wanted: Wanted, *, rare: bool) -> Entries:
    """By the folder of the first file; "" is that of entries without files."""
    own = TraceFile.objects.filter(entry=OuterRef("pk"))
    if values := wanted.values("folder"):
        if rare and "" not in values:
            files = TraceFile.objects.filter(workspace_id=workspace_id, lead_folder__in=values)
            entries = entries.filter(pk__in=files.values("entry_id"))
        else:
            condition = Exists(own.filter(lead_folder__in=[value for value in values if value]))
            entries = entries.filter(condition | ~Exists(own) if "" in values else condition)
    for value in wanted.values("folder", excluded=True):
        entries = entries.filter(~Exists(own.filter(lead_folder=value)) if value else Exists(own))
    return entries


def _in_time(workspace_id: int, entries: Entries, wanted: Wanted) -> Entries:
    """By time, and by the row ids that this implies, so that an index in their order serves. 2 queries."""
    received = LedgerEntry.objects.filter(workspace_id=workspace_id).order_by("received_at")
    if wanted.since:
        first = received.filter(received_at__gte=wanted.since - SKEW).values_list("pk", flat=True).first()
        entries = entries.filter(received_at__gte=wanted.since)
        entries = entries.filter(pk__gte=first) if first else entries.none()
    if wanted.until:
        entries = entries.filter(received_at__lt=wanted.until)
        last = received.filter(received_at__gte=wanted.until + SKEW).values_list("pk", flat=True).first()
        entries = entries.filter(pk__lte=last) if last else entries
    return entries


def _mentions(workspace_id: int, text: str, fresh: Sequence[int]) -> list[tuple[Condition, bool]]:
    """A text as a whole id, or as a part of an agent's or a tool's name or of a path, whatever its case.

    Each way is looked at by itself, as no index serves them all; those that lead nowhere are left out.
    """
    entries = LedgerEntry.objects.filter(workspace_id=workspace_id)
    own = entries.filter(kind__in=Kind.values, entry_id=text).values_list("pk", flat=True)
    ways: list[tuple[Condition, bool]] = [(Q(pk__in=list(own)), False)]
    named = [{name: text} for name in ("session_id", "intent_id")]
    ways += [(Q(**one), False) for one in named if entries.filter(**one).exists()]
    kept = EntryCount.objects.filter(workspace_id=workspace_id, span=MONTH).order_by()
    new = LedgerEntry.objects.filter(pk__in=fresh).order_by()
    part = Q(agent__icontains=text) | Q(tool__icontains=text)
    known = {*kept.filter(part).values_list("agent", "tool").distinct()}
    known |= {*new.filter(part).values_list("agent", "tool").distinct()}
    for column, names in zip(("agent", "tool"), zip(*known, strict=True), strict=False):
        holding = sorted({name for name in names if text.casefold() in name.casefold()})
        ways += [(Q(**{f"{column}__in": holding}), False)] if holding else []
    return [*ways, PathSearch(Q(path__icontains=text), {}).among(workspace_id, fresh)]
