"""Blocks of lines that were taken out of one place of a file and put into another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from traces.ranges.line_diff import Budget, Gap, Run

LETTERS_LEAST = 20  # of a block, as in git: less than that is found in many places by chance
MAX_PLACES = 16  # a line that was taken out of more places than that begins no block

_LETTER = re.compile(rb"[0-9A-Za-z\x80-\xff]")


def moved_blocks(
    before: Sequence[int], after: Sequence[int], gaps: Sequence[Gap], lines: Sequence[bytes], budget: Budget
) -> Iterator[Run]:
    """The longest blocks that the gaps have on both sides, each line once. `lines` are those of the text
    after."""
    search = _Search(before, after, {a for gap in gaps for a in range(gap.a0, gap.a1)}, budget)
    for gap in gaps:
        floor = b = gap.b0
        while b < gap.b1 and not budget.spent:
            block = search.longest(b, gap.b1)
            if block.length and letters(lines[b : b + block.length], LETTERS_LEAST) >= LETTERS_LEAST:
                yield search.take(block, floor)
                floor = b + block.length
            b += max(1, block.length)


def letters(lines: Sequence[bytes], enough: int) -> int:
    """How many letters and digits there are, counted until there are enough."""
    told = 0
    for line in lines:
        told += len(_LETTER.findall(line))
        if told >= enough:
            break
    return told


class _Search:
    """`loose` are the lines that were taken out and not found again yet."""

    def __init__(self, before: Sequence[int], after: Sequence[int], loose: set[int], budget: Budget) -> None:
        self._before, self._after, self._loose, self._budget = before, after, loose, budget
        self._places: dict[int, list[int]] = {}
        for a in sorted(loose):
            self._places.setdefault(before[a], []).append(a)

    def longest(self, first: int, end: int) -> Run:
        """The longest block that stands at `first` and ends before `end` now, from the first of equal
        places."""
        best = Run(0, first, 0)
        starts = self._places.get(self._after[first], [])
        for start in starts if len(starts) <= MAX_PLACES else ():
            a, b = start, first
            while b < end and self._same(a, b) and self._budget.take(1):
                a, b = a + 1, b + 1
            if b - first > best.length:
                best = Run(start, first, b - first)
        return best

    def take(self, block: Run, floor: int) -> Run:
        """The block, no longer loose, with the lines above it that came along and alone would begin none."""
        a, b = block.before, block.after
        while b > floor and self._same(a - 1, b - 1):
            a, b = a - 1, b - 1
        whole = Run(a, b, block.length + block.after - b)
        self._loose.difference_update(range(a, a + whole.length))
        return whole

    def _same(self, a: int, b: int) -> bool:
        return a in self._loose and self._before[a] == self._after[b]
