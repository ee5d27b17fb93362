"""The density strip: bars over time as shapes of an SVG, each a link to its stretch of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.utils import timezone

from traces.browser.entry_counts import Bar
from traces.browser.filters import Wanted
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
class Column:
    """One bar: what it links to and says, since when, where it can be hit, its numbers as in `SERIES`."""

    url: str
    words: str
    since: str
    x: float
    numbers: tuple[int, ...]


def strip_of(bars: Sequence[Bar], wanted: Wanted) -> dict[str, Any] | None:
    """What the template of the strip draws; None without bars."""
    if not bars:
        return None
    step = WIDTH / len(bars)
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "step": round(step, 2),
        "columns": [_column(bar, place * step, wanted) for place, bar in enumerate(bars)],
        "paths": _paths(bars, step),
        "series": list(SERIES.items()),
        "totals": [(name, word, sum(bar.entries[name] for bar in bars)) for name, word in SERIES.items()],
        "ticks": [words for _, words in _ticks(bars)],
        "each": _length(bars[0].span),
    }


def _column(bar: Bar, x: float, wanted: Wanted) -> Column:
    since, until = (datetime.fromtimestamp(at, UTC) for at in (bar.start, bar.start + bar.span))
    numbers = tuple(bar.entries[name] for name in SERIES)
    words = zip(numbers, SERIES.values(), strict=True)
    told = ", ".join(f"{number:,} {word.lower()}" for number, word in words if number)
    spoken = _spoken(since, bar.span)
    return Column(
        wanted.within(since, until).address(), f"{spoken}: {told or 'nothing'}", spoken, round(x, 2), numbers
    )


def _paths(bars: Sequence[Bar], step: float) -> list[tuple[str, str]]:
    """A path of an SVG for each series: its part of every bar, stacked. What is there is never invisible."""
    most = max(bar.entries.total() for bar in bars) or 1
    width = round(max(1.0, step - GAP), 2)
    drawn: dict[str, list[str]] = {name: [] for name in SERIES}
    for place, bar in enumerate(bars):
        bottom = float(HEIGHT)
        for name in SERIES:
            if number := bar.entries[name]:
                height = max(1.0, round(HEIGHT * number / most, 1))
                bottom = max(0.0, bottom - height)
                drawn[name].append(f"M{place * step:.1f} {bottom:.1f}h{width}v{height}h-{width}z")
    return [(name, "".join(parts)) for name, parts in drawn.items() if parts]


def _ticks(bars: Sequence[Bar]) -> list[tuple[int, str]]:
    every = -(-len(bars) // MAX_TICKS)
    return [(place, _short(bars[place])) for place in range(0, len(bars), every)]


def _short(bar: Bar) -> str:
    start = timezone.localtime(datetime.fromtimestamp(bar.start, UTC))
    if bar.span >= DAY:
        return f"{start.day} {start:%b}"
    return f"{start:%H:%M}" if bar.span < HOUR else f"{start.day} {start:%b %H:%M}"


def _spoken(since: datetime, span: int) -> str:
    start = timezone.localtime(since)
    return f"{start.day} {start:%b %Y}" if span >= DAY else f"{start.day} {start:%b %Y %H:%M}"


def _length(span: int) -> str:
    for unit, name in ((DAY, "day"), (HOUR, "hour"), (60, "minute")):
        if span >= unit:
            return f"{span // unit} {name}s" if span > unit else name
    return f"{span} seconds"
