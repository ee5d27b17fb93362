"""Find the lines that two texts have in common, in order: a patience diff with bounded work.

Lines stand for anything hashable. What is not matched within the limit counts as changed, so the limit can
lose the author of a line but never give it a wrong one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

LINES_PER_COMPARISON = 4  # counting four lines takes as long as one comparison
MAX_TABLE_CELLS = 10_000  # of the table for a hunk without unique lines

Line = Hashable


@dataclass(slots=True)
class WorkLimit:
    """How much may be compared, in lines; shared by everything that tracks one file."""

    remaining: int

    def consume(self, cost: int) -> bool:
        """Take some work; return False when too little is left, and from then on always."""
        # Stays exhausted, so that a result never depends on which later step happened to be cheap.
        self.remaining = self.remaining - cost if cost <= self.remaining else -1
        return self.remaining >= 0

    @property
    def is_exhausted(self) -> bool:
        return self.remaining < 0


@dataclass(frozen=True, slots=True)
class CommonRun:
    """Consecutive equal lines of both texts; indexes from 0."""

    before: int
    after: int
    length: int


@dataclass(frozen=True, slots=True)
class DiffHunk:
    """What differs between two runs: lines [a0, a1) of the text before, [b0, b1) of the text after."""

    a0: int
    a1: int
    b0: int
    b1: int


def find_common_runs(before: Sequence[Line], after: Sequence[Line], work_limit: WorkLimit) -> list[CommonRun]:
    """Return runs of common lines, ascending in both texts."""
    runs: list[CommonRun] = []
    pending = [DiffHunk(0, len(before), 0, len(after))]
    while pending:
        hunk = _trim_common_ends(before, after, pending.pop(), runs)
        size = hunk.a1 - hunk.a0 + hunk.b1 - hunk.b0
        if hunk.a0 == hunk.a1 or hunk.b0 == hunk.b1 or not work_limit.consume(size // LINES_PER_COMPARISON):
            continue
        # Unique lines first (patience): a brace that occurs everywhere must not decide what matches.
        anchors = _find_anchors(before, after, hunk)
        if anchors:
            pending.extend(_split_hunk(hunk, anchors))
            runs.extend(anchors)
        else:
            runs.extend(_diff_by_table(before, after, hunk, work_limit))
    return sorted(runs, key=lambda run: run.before)


def list_hunks(runs: Sequence[CommonRun], before: int, after: int) -> Iterator[DiffHunk]:
    """Yield the hunks before, between and after runs of texts of so many lines."""
    edges = [CommonRun(0, 0, 0), *runs, CommonRun(before, after, 0)]
    for previous, following in pairwise(edges):
        hunk = DiffHunk(
            previous.before + previous.length,
            following.before,
            previous.after + previous.length,
            following.after,
        )
        if hunk.a0 < hunk.a1 or hunk.b0 < hunk.b1:
            yield hunk


def _trim_common_ends(
    before: Sequence[Line], after: Sequence[Line], hunk: DiffHunk, runs: list[CommonRun]
) -> DiffHunk:
    """Return the hunk without common lines at its start and end; add these to `runs`."""
    head, limit = 0, min(hunk.a1 - hunk.a0, hunk.b1 - hunk.b0)
    while head < limit and before[hunk.a0 + head] == after[hunk.b0 + head]:
        head += 1
    tail = 0
    while tail < limit - head and before[hunk.a1 - 1 - tail] == after[hunk.b1 - 1 - tail]:
        tail += 1
    if head:
        runs.append(CommonRun(hunk.a0, hunk.b0, head))
    if tail:
        runs.append(CommonRun(hunk.a1 - tail, hunk.b1 - tail, tail))
    return DiffHunk(hunk.a0 + head, hunk.a1 - tail, hunk.b0 + head, hunk.b1 - tail)


def _find_anchors(before: Sequence[Line], after: Sequence[Line], hunk: DiffHunk) -> list[CommonRun]:
    """Return the unique common lines that keep their order, extended by equal lines after them."""
    positions = _find_unique_lines(after, hunk.b0, hunk.b1)
    pairs = [
        (a, positions[line])
        for line, a in _find_unique_lines(before, hunk.a0, hunk.a1).items()
        if line in positions
    ]
    anchors: list[CommonRun] = []
    end = hunk.a0
    for a, b in _longest_increasing(sorted(pairs)):
        if a < end:  # inside of the previous run: the line is unique, so it is the same pair
            continue
        limit = min(hunk.a1 - a, hunk.b1 - b)
        length = next((step for step in range(1, limit) if before[a + step] != after[b + step]), limit)
        anchors.append(CommonRun(a, b, length))
        end = a + length
    return anchors


def _find_unique_lines(lines: Sequence[Line], start: int, end: int) -> dict[Line, int]:
    part = lines[start:end]
    counts = Counter(part)
    return {line: index for index, line in enumerate(part, start) if counts[line] == 1}


def _longest_increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence of pairs whose second numbers increase (patience sorting)."""
    pile_tops: list[int] = []
    pile_indexes: list[int] = []
    predecessors: list[int] = []
    for index, (_, b) in enumerate(pairs):
        pile = bisect_left(pile_tops, b)
        predecessors.append(pile_indexes[pile - 1] if pile else -1)
        pile_tops[pile : pile + 1] = [b]
        pile_indexes[pile : pile + 1] = [index]
    chain, index = [], pile_indexes[-1] if pile_indexes else -1
    while index >= 0:
        chain.append(pairs[index])
        index = predecessors[index]
    return chain[::-1]


def _split_hunk(hunk: DiffHunk, anchors: Sequence[CommonRun]) -> Iterator[DiffHunk]:
    """Yield the hunks around anchors that have lines on both sides."""
    a0, b0 = hunk.a0, hunk.b0
    for run in [*anchors, CommonRun(hunk.a1, hunk.b1, 0)]:
        if a0 < run.before and b0 < run.after:
            yield DiffHunk(a0, run.before, b0, run.after)
        a0, b0 = run.before + run.length, run.after + run.length


def _diff_by_table(
    before: Sequence[Line], after: Sequence[Line], hunk: DiffHunk, work_limit: WorkLimit
) -> Iterator[CommonRun]:
    """Yield the longest common subsequence of a small hunk; nothing for a large one."""
    cells = (hunk.a1 - hunk.a0) * (hunk.b1 - hunk.b0)
    if cells > MAX_TABLE_CELLS or not work_limit.consume(cells):
        return
    a, b = before[hunk.a0 : hunk.a1], after[hunk.b0 : hunk.b1]
    lengths = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) - 1, -1, -1):
        row, below = lengths[i], lengths[i + 1]
        for j in range(len(b) - 1, -1, -1):
            row[j] = below[j + 1] + 1 if a[i] == b[j] else max(below[j], row[j + 1])
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            yield CommonRun(hunk.a0 + i, hunk.b0 + j, 1)
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
