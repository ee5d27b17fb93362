"""Count decisions over time: from the hourly counts where they reach, from the entries for the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.db.models import Q, Sum

from traces.counts.counters import HOUR, list_uncounted, load_counted_entries
from traces.models import EntryCount, EntryKind, LedgerEntry

MAX_UNCOUNTED = 20_000


@dataclass(frozen=True, slots=True)
class DecisionFilters:
    """Which decisions count: those of an interval (`until` excluded), of one agent, under one intent."""

    workspace_id: int
    since: datetime
    until: datetime
    agent: str = ""
    intent_id: str = ""

    def matches(self, received_at: datetime, agent: str, intent_id: str) -> bool:
        in_interval = self.since <= received_at < self.until
        return in_interval and self.agent in {"", agent} and self.intent_id in {"", intent_id}


def count_decisions_by_day(filters: DecisionFilters) -> dict[date, int]:
    """Return the number of decisions of each day (UTC) that has any. At most 7 queries."""
    first, last = _to_full_hours(filters.since, filters.until)
    counts: Counter[date] = Counter()
    if first >= last:
        _add_entries(counts, filters, [(filters.since, filters.until)])
        return dict(counts)
    rows = EntryCount.objects.filter(
        workspace_id=filters.workspace_id,
        span=HOUR,
        kind=EntryKind.DECISION,
        bucket__gte=int(first.timestamp()),
        bucket__lt=int(last.timestamp()),
    )
    rows = rows.filter(_build_condition(filters)).order_by()
    for bucket, number in rows.values_list("bucket").annotate(number=Sum("entries")):
        counts[datetime.fromtimestamp(bucket, UTC).date()] += number
    # Entries wait a second for the counter: what it has not reached yet is counted here.
    for entry in load_counted_entries(list_uncounted(filters.workspace_id, MAX_UNCOUNTED)):
        values = entry.values
        if values.kind != EntryKind.DECISION or not first <= entry.received_at < last:
            continue
        if filters.matches(entry.received_at, values.agent, values.intent_id):
            counts[entry.received_at.astimezone(UTC).date()] += 1
    _add_entries(counts, filters, [(filters.since, first), (last, filters.until)])
    return dict(counts)


def _to_full_hours(since: datetime, until: datetime) -> tuple[datetime, datetime]:
    """Return the first full hour at or after `since`, and the last one at or before `until`."""
    hour = timedelta(seconds=HOUR)
    first = since.replace(minute=0, second=0, microsecond=0)
    return (first if first == since else first + hour), until.replace(minute=0, second=0, microsecond=0)


def _build_condition(filters: DecisionFilters) -> Q:
    condition = Q()
    if filters.agent:
        condition &= Q(agent=filters.agent)
    if filters.intent_id:
        condition &= Q(intent_id=filters.intent_id)
    return condition


def _add_entries(
    counts: Counter[date], filters: DecisionFilters, intervals: Iterable[tuple[datetime, datetime]]
) -> None:
    for since, until in intervals:
        if since >= until:
            continue
        rows = LedgerEntry.objects.filter(
            _build_condition(filters),
            workspace_id=filters.workspace_id,
            kind=EntryKind.DECISION,
            received_at__gte=since,
            received_at__lt=until,
        )
        for received_at in rows.values_list("received_at", flat=True):
            counts[received_at.astimezone(UTC).date()] += 1
