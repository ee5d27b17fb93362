"""Draw asks per 100 calls over time, as the geometry of an SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from math import ceil

from sessions.interruptions.figures import DayFigures

WIDTH, HEIGHT = 560, 160
TOP, BOTTOM, LEFT, RIGHT = 16, 136, 32, 552
SPARK_WIDTH, SPARK_HEIGHT = 56, 16
MARKS = 8


@dataclass(frozen=True, slots=True)
class ChartPoint:
    x: float
    y: float
    day: date
    rate: float
    calls: int
    asks: int


@dataclass(frozen=True, slots=True)
class ChartMark:
    """A change that may have moved the line: a rule, or a new policy."""

    x: float
    label: str
    above: float  # where its label stands

    @property
    def anchor(self) -> str:
        """On which side of the mark its label has room."""
        return "end" if self.x > WIDTH * 0.6 else "start"

    @property
    def offset(self) -> int:
        return -4 if self.anchor == "end" else 4


@dataclass(frozen=True, slots=True)
class RateChart:
    """`line` and `area` are paths of an SVG of `width` by `height`; grid lines carry their rate."""

    width: int
    height: int
    line: str
    area: str
    points: tuple[ChartPoint, ...]
    grid: tuple[tuple[float, int], ...]
    marks: tuple[ChartMark, ...]
    ticks: tuple[date, ...]


def build_chart(days: Sequence[DayFigures], changes: Iterable[tuple[date, str]]) -> RateChart | None:
    """Return the chart of the days with calls; None where there are not two of them."""
    rates = [(day, day.rate) for day in days if day.rate is not None]
    if len(rates) < 2:
        return None
    top = max(2, ceil(max(rate for _, rate in rates)))
    positions = {day.day: LEFT + (RIGHT - LEFT) * index / (len(days) - 1) for index, day in enumerate(days)}
    points = tuple(
        ChartPoint(
            round(positions[day.day], 1),
            round(BOTTOM - (BOTTOM - TOP) * rate / top, 1),
            day.day,
            rate,
            day.calls,
            day.asks,
        )
        for day, rate in rates
    )
    line = " ".join(f"{'L' if index else 'M'}{point.x} {point.y}" for index, point in enumerate(points))
    grid = tuple((round(BOTTOM - (BOTTOM - TOP) * part, 1), round(top * part)) for part in (0, 0.5, 1))
    marks = [(positions[day], label) for day, label in changes if day in positions][:MARKS]
    return RateChart(
        WIDTH,
        HEIGHT,
        line,
        f"{line} L{points[-1].x} {BOTTOM} L{points[0].x} {BOTTOM} Z",
        points,
        grid,
        tuple(
            ChartMark(round(x, 1), label, TOP + 12 * (index % 3)) for index, (x, label) in enumerate(marks)
        ),
        (days[0].day, days[len(days) // 2].day, days[-1].day),
    )


def build_spark(numbers: Sequence[int]) -> str:
    """Return the path of a bar for each number, `SPARK_WIDTH` by `SPARK_HEIGHT`."""
    largest, step = max(numbers, default=0), SPARK_WIDTH / max(1, len(numbers))
    width = f"{step * 0.7:.1f}"
    bars = (
        f"M{index * step:.1f} {SPARK_HEIGHT}h{width}v-{SPARK_HEIGHT * number / largest:.1f}h-{width}z"
        for index, number in enumerate(numbers)
        if number
    )
    return "".join(bars)
