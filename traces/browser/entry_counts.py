"""Count matching entries, by value and over time, from stored counts where those suffice.

Stored counts cannot answer for a text, a path, a session or minutes. Then the newest `MAX_COUNTED` matching
entries are counted, and `is_capped` makes the page say so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from django.db.models import OuterRef, Q, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce

from traces.browser.filters import VALUE_FIELDS, EntryFilters
from traces.browser.search import COLUMN_NAMES, QueryBranch, build_value_condition
from traces.counts.counters import (
    COUNTED_COLUMNS,
    DAY,
    HOUR,
    MONTH,
    CountedEntry,
    CountedValues,
    is_counting,
    load_counted_entries,
)
from traces.models import EntryCount, EntryKind, LedgerEntry, TraceFile

MAX_COUNTED = 5_000
MAX_SCANNED = 20_000  # entries that are scanned one by one
MIN_BARS, MAX_BARS = 24, 96
MAX_FINE_HOURS = 12
BUCKET_SECONDS = (60, 300, 900, HOUR, 6 * HOUR, DAY, 7 * DAY, 28 * DAY, 364 * DAY)
SERIES = {"allow": "allow", "ask": "ask", "deny": "deny"}  # decisions whose outcome has a colour
COUNT_FIELDS = ("kind", "outcome", "agent", "intent_id", "tool", "reason", "folder")


@dataclass(frozen=True, slots=True)
class TimeBucket:
    """Entries received in `seconds` seconds from `start`, by series: allow, ask, deny, trace, other."""

    start: int
    seconds: int
    counts: Counter[str]


@dataclass(slots=True)
class EntryCounts:
    """Counts of the entries received from second `first` to `last`.

    `is_capped`: only the newest `total` were counted, there may be more.
    """

    total: int = 0
    is_capped: bool = False
    first: int | None = None
    last: int | None = None
    values: Counter[CountedValues] = field(default_factory=Counter)
    buckets: list[TimeBucket] = field(default_factory=list)

    def count_values(self, name: str, kind: str = "") -> list[tuple[str, int]]:
        """Return the values of a field with their counts, most frequent first.

        `kind` limits it to one kind of entry.
        """
        column, totals = COLUMN_NAMES.get(name, name), Counter[str]()
        for values, entries in self.values.items():
            if not kind or values.kind == kind:
                totals[getattr(values, column)] += entries
        return sorted(totals.items(), key=lambda item: (-item[1], item[0]))


def count_entries(
    workspace_id: int, filters: EntryFilters, uncounted: Sequence[int], branches: Sequence[QueryBranch]
) -> EntryCounts:
    """Count the entries that match. `branches` are needed only where stored counts cannot answer.

    5 queries with stored counts, else 1 per branch.
    """
    if filters.is_precounted:
        return _count_from_sums(workspace_id, filters, uncounted)
    floor = _find_scan_floor(workspace_id) if any(branch.scans for branch in branches) else 0
    rows = load_newest_rows(branches, MAX_COUNTED + 1, floor)
    result = _count_rows(filters, rows)
    result.is_capped |= floor > 0
    return result


def refine_buckets(
    filters: EntryFilters, counts: EntryCounts, branches: Sequence[QueryBranch]
) -> EntryCounts:
    """Replace hourly buckets by finer ones when all entries lie within a few hours. 1 query per branch."""
    indexes = [index for index, bucket in enumerate(counts.buckets) if bucket.counts]
    is_narrow = indexes and counts.buckets[0].seconds == HOUR and indexes[-1] - indexes[0] < MAX_FINE_HOURS
    if not is_narrow or filters.since or filters.until or not 0 < counts.total <= MAX_COUNTED:
        return counts
    return replace(counts, buckets=_count_rows(filters, load_newest_rows(branches, MAX_COUNTED)).buckets)


def load_newest_rows(branches: Iterable[QueryBranch], limit: int, floor: int = 0) -> list[CountedEntry]:
    """Return what is counted of the newest matching entries, from row id `floor` on. 1 query per branch."""
    entry_files = TraceFile.objects.filter(entry=OuterRef("pk")).exclude(lead_folder="")
    directory = Coalesce(Subquery(entry_files.values("lead_folder")[:1]), Value(""))
    rows: dict[int, CountedEntry] = {}
    for branch in branches:
        entries = branch.entries.filter(pk__gte=floor) if floor else branch.entries
        newest = (
            entries.order_by("-pk").annotate(folder=directory).values_list(*COUNTED_COLUMNS, "folder")[:limit]
        )
        rows |= {pk: CountedEntry(pk, at, CountedValues(*values)) for pk, at, *values in newest}
    return [rows[pk] for pk in sorted(rows, reverse=True)[:limit]]


def _find_scan_floor(workspace_id: int) -> int:
    """Return the row id from which entries may be scanned one by one; 0 when that is all of them. 1 query."""
    ids = LedgerEntry.objects.for_workspace(workspace_id).newest_first().values_list("pk", flat=True)
    return next(iter(ids[MAX_SCANNED : MAX_SCANNED + 1]), 0)


def matches(filters: EntryFilters, counting: CountedEntry) -> bool:
    """Check an entry against the filters for values and time."""
    if (filters.since and counting.received_at < filters.since) or (
        filters.until and counting.received_at >= filters.until
    ):
        return False
    for name in VALUE_FIELDS:
        value = getattr(counting.values, COLUMN_NAMES.get(name, name))
        chosen = filters.values(name)
        if (chosen and value not in chosen) or value in filters.values(name, excluded=True):
            return False
    return True


def find_series(kind: str, outcome: str) -> str:
    """Return the series of the histogram that an entry belongs to."""
    if kind == EntryKind.DECISION:
        return SERIES.get(outcome, "other")
    return "trace" if kind == EntryKind.TRACE else "other"


def _count_from_sums(workspace_id: int, filters: EntryFilters, uncounted: Sequence[int]) -> EntryCounts:
    new_entries = [counting for counting in load_counted_entries(uncounted) if matches(filters, counting)]
    result = _summarize(new_entries)
    result.is_capped = is_counting(uncounted)
    sums = EntryCount.objects.filter(
        build_value_condition(filters, VALUE_FIELDS), workspace_id=workspace_id
    ).order_by()
    unbounded = filters.since is None and filters.until is None
    in_range = sums.filter(Q(span=MONTH) if unbounded else _build_range_condition(filters))
    for *values, entries in in_range.values_list(*COUNT_FIELDS).annotate(sum=Sum("entries")):
        result.values[CountedValues(*values)] += entries
        result.total += entries
    over_time = _list_over_time(sums.filter(_build_range_condition(filters)))
    for bucket, length, *_ in over_time:
        result.first = bucket if result.first is None else min(result.first, bucket)
        result.last = max(result.last or 0, bucket + length - 1)
    first, last = _compute_bounds(filters, result)
    seconds = _choose_bucket_seconds(last - first, minimum=HOUR)
    if seconds < DAY:
        hours = Q(span=HOUR, bucket__gte=first - first % HOUR, bucket__lte=last)
        over_time = _list_over_time(sums.filter(hours))
    series_counts = [
        (bucket, find_series(kind, outcome), entries) for bucket, _, kind, outcome, entries in over_time
    ]
    result.buckets = _build_buckets(first, last, seconds, [*series_counts, *_list_series_counts(new_entries)])
    return result


def _list_over_time(sums: QuerySet[EntryCount]) -> list[tuple[int, int, str, str, int]]:
    """Return (bucket, its seconds, kind, outcome, entries). 1 query."""
    return list(sums.values_list("bucket", "span", "kind", "outcome").annotate(sum=Sum("entries")))


def _count_rows(filters: EntryFilters, rows: list[CountedEntry]) -> EntryCounts:
    result = _summarize(rows[:MAX_COUNTED])
    result.is_capped = len(rows) > MAX_COUNTED
    # Bars end where the counting ended.
    bounds = filters if not result.is_capped else filters.with_time_range(None, None)
    first, last = _compute_bounds(bounds, result)
    result.buckets = _build_buckets(
        first,
        last,
        _choose_bucket_seconds(last - first, minimum=BUCKET_SECONDS[0]),
        _list_series_counts(rows[:MAX_COUNTED]),
    )
    return result


def _summarize(rows: list[CountedEntry]) -> EntryCounts:
    times = [int(row.received_at.timestamp()) for row in rows]
    values = Counter(row.values for row in rows)
    return EntryCounts(
        len(rows), values=values, first=min(times, default=None), last=max(times, default=None)
    )


def _list_series_counts(rows: Iterable[CountedEntry]) -> list[tuple[int, str, int]]:
    return [
        (int(row.received_at.timestamp()), find_series(row.values.kind, row.values.outcome), 1)
        for row in rows
    ]


def _build_range_condition(filters: EntryFilters) -> Q:
    """Select the stored counts that add up to the range: its full days, and hours at both ends."""
    if filters.since is None and filters.until is None:
        return Q(span=DAY)
    since = int(filters.since.timestamp()) if filters.since else 0
    until = int(filters.until.timestamp()) if filters.until else 2**40
    first_day, last_day = since + -since % DAY, until - until % DAY
    if first_day >= last_day:
        return Q(span=HOUR, bucket__gte=since, bucket__lt=until)
    days = Q(span=DAY, bucket__gte=first_day, bucket__lt=last_day)
    before = Q(span=HOUR, bucket__gte=since, bucket__lt=first_day)
    return days | before | Q(span=HOUR, bucket__gte=last_day, bucket__lt=until)


def _compute_bounds(filters: EntryFilters, counts: EntryCounts) -> tuple[int, int]:
    """Return the first and last second of the histogram: the requested range, or where the entries are."""
    first = int(filters.since.timestamp()) if filters.since else counts.first or 0
    last = int(filters.until.timestamp()) - 1 if filters.until else counts.last or first
    if filters.since is None and last:  # a single bar would fill the page and say nothing
        seconds = _choose_bucket_seconds(
            last - first, minimum=BUCKET_SECONDS[0] if last - first < HOUR else HOUR
        )
        first = min(first, last - (MIN_BARS - 1) * seconds)
    return first, max(first, last)


def _choose_bucket_seconds(seconds: int, *, minimum: int) -> int:
    return next(
        (
            candidate
            for candidate in BUCKET_SECONDS
            if candidate >= minimum and seconds < candidate * MAX_BARS
        ),
        BUCKET_SECONDS[-1],
    )


def _build_buckets(
    first: int, last: int, bucket_seconds: int, series_counts: Iterable[tuple[int, str, int]]
) -> list[TimeBucket]:
    """Return buckets of equal length from the first to the last second, including empty ones."""
    if not last:
        return []
    starts = range(first - first % bucket_seconds, last + 1, bucket_seconds)
    sums = {start: Counter[str]() for start in starts}
    for second, series, entries in series_counts:
        if (start := second - second % bucket_seconds) in sums:
            sums[start][series] += entries
    return [TimeBucket(start, bucket_seconds, sums[start]) for start in starts]
