"""The lines that two texts have in common, in order: a patience diff whose work is bounded.

Lines stand for anything that can be compared. What is not matched within the bound counts as changed, so that
a bound can lose the author of a line but never give it a wrong one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

QUICK = 4  # lines that are counted in the time that one comparison takes
MAX_CELLS = 10_000  # of the table for a gap without a line that is there once

Line = Hashable


@dataclass(slots=True)
class Budget:
    """How much may be looked at, in lines compared; shared by all that follows one file."""

    left: int

    def take(self, cost: int) -> bool:
        """Whether there is that much left; once there is not, nothing is."""
        self.left = self.left - cost if cost <= self.left else -1
        return self.left >= 0

    @property
    def spent(self) -> bool:
        return self.left < 0


@dataclass(frozen=True, slots=True)
class Run:
    """Equal lines that follow one another in both texts; indexes from 0."""

    before: int
    after: int
    length: int


@dataclass(frozen=True, slots=True)
class Gap:
    """What lies between two runs: lines [a0, a1) of the text before, [b0, b1) of the one after."""

    a0: int
    a1: int
    b0: int
    b1: int


def common_runs(before: Sequence[Line], after: Sequence[Line], budget: Budget) -> list[Run]:
    """Runs of common lines, ascending in both texts."""
    found: list[Run] = []
    waiting = [Gap(0, len(before), 0, len(after))]
    while waiting:
        gap = _shortened(before, after, waiting.pop(), found)
        size = gap.a1 - gap.a0 + gap.b1 - gap.b0
        if gap.a0 == gap.a1 or gap.b0 == gap.b1 or not budget.take(size // QUICK):
            continue
        anchors = _anchors(before, after, gap)
        if anchors:
            waiting.extend(_between(gap, anchors))
            found.extend(anchors)
        else:
            found.extend(_table(before, after, gap, budget))
    return sorted(found, key=lambda run: run.before)


def gaps_between(runs: Sequence[Run], before: int, after: int) -> Iterator[Gap]:
    """What lies before, between and behind runs of texts of so many lines, where there is anything."""
    edges = [Run(0, 0, 0), *runs, Run(before, after, 0)]
    for one, two in pairwise(edges):
        gap = Gap(one.before + one.length, two.before, one.after + one.length, two.after)
        if gap.a0 < gap.a1 or gap.b0 < gap.b1:
            yield gap


def _shortened(before: Sequence[Line], after: Sequence[Line], gap: Gap, found: list[Run]) -> Gap:
    """The gap without the lines that it begins and ends with in both texts; these are found."""
    head, most = 0, min(gap.a1 - gap.a0, gap.b1 - gap.b0)
    while head < most and before[gap.a0 + head] == after[gap.b0 + head]:
        head += 1
    tail = 0
    while tail < most - head and before[gap.a1 - 1 - tail] == after[gap.b1 - 1 - tail]:
        tail += 1
    if head:
        found.append(Run(gap.a0, gap.b0, head))
    if tail:
        found.append(Run(gap.a1 - tail, gap.b1 - tail, tail))
    return Gap(gap.a0 + head, gap.a1 - tail, gap.b0 + head, gap.b1 - tail)


def _anchors(before: Sequence[Line], after: Sequence[Line], gap: Gap) -> list[Run]:
    """Lines that are there once on both sides, as many of them as keep their order, and equal lines behind
    them."""
    places = _once(after, gap.b0, gap.b1)
    pairs = [(a, places[line]) for line, a in _once(before, gap.a0, gap.a1).items() if line in places]
    found: list[Run] = []
    end = gap.a0
    for a, b in _rising(sorted(pairs)):
        if a < end:  # behind an anchor already: it is the same pair, as the line is there once
            continue
        most = min(gap.a1 - a, gap.b1 - b)
        length = next((step for step in range(1, most) if before[a + step] != after[b + step]), most)
        found.append(Run(a, b, length))
        end = a + length
    return found


def _once(lines: Sequence[Line], start: int, end: int) -> dict[Line, int]:
    part = lines[start:end]
    counts = Counter(part)
    return {line: at for at, line in enumerate(part, start) if counts[line] == 1}


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of the pairs whose second numbers rise (patience sorting)."""
    tops: list[int] = []
    last: list[int] = []
    below: list[int] = []
    for index, (_, b) in enumerate(pairs):
        pile = bisect_left(tops, b)
        below.append(last[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [b]
        last[pile : pile + 1] = [index]
    chain, index = [], last[-1] if last else -1
    while index >= 0:
        chain.append(pairs[index])
        index = below[index]
    return chain[::-1]


def _between(gap: Gap, anchors: Sequence[Run]) -> Iterator[Gap]:
    """What lies around the anchors, where there is something on both sides."""
    a0, b0 = gap.a0, gap.b0
    for run in [*anchors, Run(gap.a1, gap.b1, 0)]:
        if a0 < run.before and b0 < run.after:
            yield Gap(a0, run.before, b0, run.after)
        a0, b0 = run.before + run.length, run.after + run.length


def _table(before: Sequence[Line], after: Sequence[Line], gap: Gap, budget: Budget) -> Iterator[Run]:
    """The longest common part of a small gap, by the table of all pairs; nothing of a larger one."""
    cells = (gap.a1 - gap.a0) * (gap.b1 - gap.b0)
    if cells > MAX_CELLS or not budget.take(cells):
        return
    a, b = before[gap.a0 : gap.a1], after[gap.b0 : gap.b1]
    best = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) - 1, -1, -1):
        row, below = best[i], best[i + 1]
        for j in range(len(b) - 1, -1, -1):
            row[j] = below[j + 1] + 1 if a[i] == b[j] else max(below[j], row[j + 1])
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            yield Run(gap.a0 + i, gap.b0 + j, 1)
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
