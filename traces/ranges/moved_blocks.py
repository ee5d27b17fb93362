"""Find blocks of lines that were moved within a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from traces.ranges.line_diff import CommonRun, DiffHunk, WorkLimit

MIN_BLOCK_LETTERS = 20  # per block, as in git: shorter ones occur in many places by chance
MAX_POSITIONS = 16  # a line removed in more places than that starts no block

_LETTER = re.compile(rb"[0-9A-Za-z\x80-\xff]")


def find_moved_blocks(
    before: Sequence[int],
    after: Sequence[int],
    hunks: Sequence[DiffHunk],
    lines: Sequence[bytes],
    work_limit: WorkLimit,
) -> Iterator[CommonRun]:
    """Yield the longest blocks that hunks have on both sides, each line once.

    `lines` are those of the text after.
    """
    finder = _BlockFinder(before, after, {a for hunk in hunks for a in range(hunk.a0, hunk.a1)}, work_limit)
    for hunk in hunks:
        floor = b = hunk.b0
        while b < hunk.b1 and not work_limit.is_exhausted:
            block = finder.find_longest(b, hunk.b1)
            if (
                block.length
                and count_letters(lines[b : b + block.length], MIN_BLOCK_LETTERS) >= MIN_BLOCK_LETTERS
            ):
                yield finder.claim(block, floor)
                floor = b + block.length
            b += max(1, block.length)


def count_letters(lines: Sequence[bytes], limit: int) -> int:
    """Count letters and digits, up to a limit."""
    count = 0
    for line in lines:
        count += len(_LETTER.findall(line))
        if count >= limit:
            break
    return count


class _BlockFinder:
    """Match added lines to `removed` ones that no block has claimed yet."""

    def __init__(
        self, before: Sequence[int], after: Sequence[int], removed: set[int], work_limit: WorkLimit
    ) -> None:
        self._before, self._after, self._removed, self._work_limit = before, after, removed, work_limit
        self._positions: dict[int, list[int]] = {}
        for a in sorted(removed):
            self._positions.setdefault(before[a], []).append(a)

    def find_longest(self, first: int, end: int) -> CommonRun:
        """Return the longest block at `first` that ends before `end`, from the first of equal positions."""
        best = CommonRun(0, first, 0)
        starts = self._positions.get(self._after[first], [])
        for start in starts if len(starts) <= MAX_POSITIONS else ():
            a, b = start, first
            while b < end and self._matches(a, b) and self._work_limit.consume(1):
                a, b = a + 1, b + 1
            if b - first > best.length:
                best = CommonRun(start, first, b - first)
        return best

    def claim(self, block: CommonRun, floor: int) -> CommonRun:
        """Return the block and mark it as used, extended by moved lines above that would start no block
        themselves.
        """
        a, b = block.before, block.after
        while b > floor and self._matches(a - 1, b - 1):
            a, b = a - 1, b - 1
        extended = CommonRun(a, b, block.length + block.after - b)
        self._removed.difference_update(range(a, a + extended.length))
        return extended

    def _matches(self, a: int, b: int) -> bool:
        return a in self._removed and self._before[a] == self._after[b]
