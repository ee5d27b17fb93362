"""Draw entries over time: bars as SVG paths, each a link to its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.utils import timezone

from traces.browser.entry_counts import TimeBucket
from traces.browser.filters import EntryFilters
from traces.counts.counters import DAY, HOUR

WIDTH, HEIGHT = 960, 48
GAP = 1
SERIES: Mapping[str, str] = {
    "trace": "Traces",
    "allow": "Allowed",
    "ask": "Held",
    "deny": "Denied",
    "other": "Other",
}
MAX_TICKS = 8


@dataclass(frozen=True, slots=True)
class BucketLink:
    """One bar as a link: its title, start, position, and its counts in the order of `SERIES`."""

    url: str
    title: str
    since: str
    x: float
    numbers: tuple[int, ...]


def build_histogram(buckets: Sequence[TimeBucket], filters: EntryFilters) -> dict[str, Any] | None:
    """Return the context of the histogram template; None without buckets."""
    if not buckets:
        return None
    step = WIDTH / len(buckets)
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "step": round(step, 2),
        "links": [_build_link(bucket, index * step, filters) for index, bucket in enumerate(buckets)],
        "paths": _build_paths(buckets, step),
        "series": list(SERIES.items()),
        "totals": [
            (name, word, sum(bucket.counts[name] for bucket in buckets)) for name, word in SERIES.items()
        ],
        "ticks": [label for _, label in _list_ticks(buckets)],
        "each": _format_length(buckets[0].seconds),
    }


def _build_link(bucket: TimeBucket, x: float, filters: EntryFilters) -> BucketLink:
    since, until = (
        datetime.fromtimestamp(seconds, UTC) for seconds in (bucket.start, bucket.start + bucket.seconds)
    )
    numbers = tuple(bucket.counts[name] for name in SERIES)
    labelled = zip(numbers, SERIES.values(), strict=True)
    summary = ", ".join(f"{number:,} {word.lower()}" for number, word in labelled if number)
    start_text = _format_start(since, bucket.seconds)
    return BucketLink(
        filters.with_time_range(since, until).to_query_string(),
        f"{start_text}: {summary or 'nothing'}",
        start_text,
        round(x, 2),
        numbers,
    )


def _build_paths(buckets: Sequence[TimeBucket], step: float) -> list[tuple[str, str]]:
    """Return an SVG path per series, stacked. A bar that is not empty is at least one pixel high."""
    tallest = max(bucket.counts.total() for bucket in buckets) or 1
    width = round(max(1.0, step - GAP), 2)
    shapes: dict[str, list[str]] = {name: [] for name in SERIES}
    for index, bucket in enumerate(buckets):
        bottom = float(HEIGHT)
        for name in SERIES:
            if number := bucket.counts[name]:
                height = max(1.0, round(HEIGHT * number / tallest, 1))
                bottom = max(0.0, bottom - height)
                shapes[name].append(f"M{index * step:.1f} {bottom:.1f}h{width}v{height}h-{width}z")
    return [(name, "".join(parts)) for name, parts in shapes.items() if parts]


def _list_ticks(buckets: Sequence[TimeBucket]) -> list[tuple[int, str]]:
    every = -(-len(buckets) // MAX_TICKS)
    return [(index, _format_tick(buckets[index])) for index in range(0, len(buckets), every)]


def _format_tick(bucket: TimeBucket) -> str:
    start = timezone.localtime(datetime.fromtimestamp(bucket.start, UTC))
    if bucket.seconds >= DAY:
        return f"{start.day} {start:%b}"
    return f"{start:%H:%M}" if bucket.seconds < HOUR else f"{start.day} {start:%b %H:%M}"


def _format_start(since: datetime, seconds: int) -> str:
    start = timezone.localtime(since)
    return f"{start.day} {start:%b %Y}" if seconds >= DAY else f"{start.day} {start:%b %Y %H:%M}"


def _format_length(seconds: int) -> str:
    for unit, name in ((DAY, "day"), (HOUR, "hour"), (60, "minute")):
        if seconds >= unit:
            return f"{seconds // unit} {name}s" if seconds > unit else name
    return f"{seconds} seconds"
