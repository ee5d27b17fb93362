"""How many entries fit, by value and over time: from the kept numbers where they can answer.

Where they cannot (a text, a path, a session, minutes), the newest `MAX_COUNTED` of what fits are counted,
and whoever draws the numbers says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from django.db.models import OuterRef, Q, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce

from traces.browser.filters import VALUED, Wanted
from traces.browser.search import COLUMNS, Way, having
from traces.counts.counters import COUNTED_COLUMNS, DAY, HOUR, MONTH, Counting, Values, countings
from traces.counts.models import EntryCount
from traces.models import Kind, LedgerEntry, TraceFile

MAX_COUNTED = 5_000
MAX_LOOKED = 20_000  # entries that are looked at one by one
MAX_FRESH = 10_000  # entries that are not counted yet; more of them only after an import, for moments
MIN_BARS, MAX_BARS = 24, 96
FEW_HOURS = 12
SPANS = (60, 300, 900, HOUR, 6 * HOUR, DAY, 7 * DAY, 28 * DAY, 364 * DAY)
SERIES = {"allow": "allow", "ask": "ask", "deny": "deny"}  # outcomes of decisions that have a colour
NAMES = ("kind", "outcome", "agent", "intent_id", "tool", "reason", "folder")


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of time, `span` seconds from `start`; entries by series: allow, ask, deny, trace, other."""

    start: int
    span: int
    entries: Counter[str]


@dataclass(slots=True)
class Tally:
    """From second `first` to `last`. `capped`: the newest `total` were counted, there may be more."""

    total: int = 0
    capped: bool = False
    first: int | None = None
    last: int | None = None
    values: Counter[Values] = field(default_factory=Counter)
    bars: list[Bar] = field(default_factory=list)

    def facet(self, name: str, kind: str = "") -> list[tuple[str, int]]:
        """The values of a name with their counts, the commonest first; of one kind of entry, or of all."""
        column, counted = COLUMNS.get(name, name), Counter[str]()
        for values, entries in self.values.items():
            if not kind or values.kind == kind:
                counted[getattr(values, column)] += entries
        return sorted(counted.items(), key=lambda item: (-item[1], item[0]))


def tally(workspace_id: int, wanted: Wanted, fresh: Sequence[int], found: Sequence[Way]) -> Tally:
    """The numbers of what fits. `found` is only looked at where the kept numbers cannot answer.

    5 queries from the kept numbers, else 1 for each way to what fits.
    """
    if wanted.counted:
        return _kept(workspace_id, wanted, fresh)
    floor = _looked_through(workspace_id) if any(way.probing for way in found) else 0
    rows = newest_countings(found, MAX_COUNTED + 1, floor)
    result = _counted(wanted, rows)
    result.capped |= floor > 0
    return result


def with_finer_bars(wanted: Wanted, counted: Tally, found: Sequence[Way]) -> Tally:
    """A few hours tell little in bars of an hour: minutes, where all that fits can be counted.

    1 query a way.
    """
    filled = [place for place, bar in enumerate(counted.bars) if bar.entries]
    few = filled and counted.bars[0].span == HOUR and filled[-1] - filled[0] < FEW_HOURS
    if not few or wanted.since or wanted.until or not 0 < counted.total <= MAX_COUNTED:
        return counted
    return replace(counted, bars=_counted(wanted, newest_countings(found, MAX_COUNTED)).bars)


def newest_countings(found: Iterable[Way], most: int, floor: int = 0) -> list[Counting]:
    """The newest of what fits, as they are counted, from the row id `floor` on. 1 query a way."""
    own = TraceFile.objects.filter(entry=OuterRef("pk")).exclude(lead_folder="")
    folder = Coalesce(Subquery(own.values("lead_folder")[:1]), Value(""))
    rows: dict[int, Counting] = {}
    for way in found:
        some = way.entries.filter(pk__gte=floor) if floor else way.entries
        newest = some.order_by("-pk").annotate(folder=folder).values_list(*COUNTED_COLUMNS, "folder")[:most]
        rows |= {pk: Counting(pk, at, Values(*values)) for pk, at, *values in newest}
    return [rows[pk] for pk in sorted(rows, reverse=True)[:most]]


def _looked_through(workspace_id: int) -> int:
    """The row id down to which entries are looked at one by one; 0 where that is all of them. 1 query."""
    ids = LedgerEntry.objects.filter(workspace_id=workspace_id).order_by("-pk").values_list("pk", flat=True)
    return next(iter(ids[MAX_LOOKED : MAX_LOOKED + 1]), 0)


def fits(wanted: Wanted, one: Counting) -> bool:
    """Whether an entry fits, as far as values and time go."""
    if (wanted.since and one.received_at < wanted.since) or (
        wanted.until and one.received_at >= wanted.until
    ):
        return False
    for name in VALUED:
        value = getattr(one.values, COLUMNS.get(name, name))
        chosen = wanted.values(name)
        if (chosen and value not in chosen) or value in wanted.values(name, excluded=True):
            return False
    return True


def series_of(kind: str, outcome: str) -> str:
    if kind == Kind.DECISION:
        return SERIES.get(outcome, "other")
    return "trace" if kind == Kind.TRACE else "other"


def _kept(workspace_id: int, wanted: Wanted, fresh: Sequence[int]) -> Tally:
    new = [one for one in countings(fresh) if fits(wanted, one)]
    result = _summed(new)
    result.capped = len(fresh) >= MAX_FRESH
    kept = EntryCount.objects.filter(having(wanted, VALUED), workspace_id=workspace_id).order_by()
    endless = wanted.since is None and wanted.until is None
    of_all = kept.filter(Q(span=MONTH) if endless else _stretch(wanted))
    for *values, entries in of_all.values_list(*NAMES).annotate(sum=Sum("entries")):
        result.values[Values(*values)] += entries
        result.total += entries
    over_time = _over_time(kept.filter(_stretch(wanted)))
    for bucket, length, *_ in over_time:
        result.first = bucket if result.first is None else min(result.first, bucket)
        result.last = max(result.last or 0, bucket + length - 1)
    first, last = _ends(wanted, result)
    span = _span(last - first, least=HOUR)
    if span < DAY:
        hours = Q(span=HOUR, bucket__gte=first - first % HOUR, bucket__lte=last)
        over_time = _over_time(kept.filter(hours))
    counted = [(bucket, series_of(kind, outcome), entries) for bucket, _, kind, outcome, entries in over_time]
    result.bars = _bars(first, last, span, [*counted, *_moments(new)])
    return result


def _over_time(kept: QuerySet[EntryCount]) -> list[tuple[int, int, str, str, int]]:
    """(bucket, its length, kind, outcome, entries). 1 query."""
    return list(kept.values_list("bucket", "span", "kind", "outcome").annotate(sum=Sum("entries")))


def _counted(wanted: Wanted, rows: list[Counting]) -> Tally:
    result = _summed(rows[:MAX_COUNTED])
    result.capped = len(rows) > MAX_COUNTED
    whole = wanted if not result.capped else wanted.within(None, None)  # bars end where the counting ended
    first, last = _ends(whole, result)
    result.bars = _bars(first, last, _span(last - first, least=SPANS[0]), _moments(rows[:MAX_COUNTED]))
    return result


def _summed(rows: list[Counting]) -> Tally:
    moments = [int(one.received_at.timestamp()) for one in rows]
    values = Counter(one.values for one in rows)
    return Tally(len(rows), values=values, first=min(moments, default=None), last=max(moments, default=None))


def _moments(rows: Iterable[Counting]) -> list[tuple[int, str, int]]:
    return [
        (int(one.received_at.timestamp()), series_of(one.values.kind, one.values.outcome), 1) for one in rows
    ]


def _stretch(wanted: Wanted) -> Q:
    """The rows that make up a stretch of full hours: its full days, and at both ends hours."""
    if wanted.since is None and wanted.until is None:
        return Q(span=DAY)
    since = int(wanted.since.timestamp()) if wanted.since else 0
    until = int(wanted.until.timestamp()) if wanted.until else 2**40
    first_day, last_day = since + -since % DAY, until - until % DAY
    if first_day >= last_day:
        return Q(span=HOUR, bucket__gte=since, bucket__lt=until)
    days = Q(span=DAY, bucket__gte=first_day, bucket__lt=last_day)
    before = Q(span=HOUR, bucket__gte=since, bucket__lt=first_day)
    return days | before | Q(span=HOUR, bucket__gte=last_day, bucket__lt=until)


def _ends(wanted: Wanted, result: Tally) -> tuple[int, int]:
    """The seconds between which the bars stand: those asked for, else those in which something is."""
    first = int(wanted.since.timestamp()) if wanted.since else result.first or 0
    last = int(wanted.until.timestamp()) - 1 if wanted.until else result.last or first
    if wanted.since is None and last:  # one bar alone would be as wide as the page and say nothing
        span = _span(last - first, least=SPANS[0] if last - first < HOUR else HOUR)
        first = min(first, last - (MIN_BARS - 1) * span)
    return first, max(first, last)


def _span(seconds: int, *, least: int) -> int:
    return next((one for one in SPANS if one >= least and seconds < one * MAX_BARS), SPANS[-1])


def _bars(first: int, last: int, span: int, counted: Iterable[tuple[int, str, int]]) -> list[Bar]:
    """Bars of equal width from the first to the last second, empty ones too."""
    if not last:
        return []
    starts = range(first - first % span, last + 1, span)
    sums = {start: Counter[str]() for start in starts}
    for second, series, entries in counted:
        if (start := second - second % span) in sums:
            sums[start][series] += entries
    return [Bar(start, span, sums[start]) for start in starts]
