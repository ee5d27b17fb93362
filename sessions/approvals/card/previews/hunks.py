"""Diff texts that an agent chose, in bounded time.

Comparison is quadratic in the worst case, which whoever writes the text can provoke. Beyond a budget the
changed middle is shown as removed and added in full: more to read, nothing hidden.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from controlplane.templatetags.diffs import DiffLine, DiffPart, Hunk, compute_hunks

MAX_LINE_PAIRS = 40_000  # equal pairs of lines that the comparison would have to weigh
MAX_WORD_PAIRS = 12_000_000  # pairs of words that marking the changed ones may weigh, at the very worst
MAX_RIVALS = 20  # lines that each changed line may be compared with, about
CONTEXT = 3
_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)


def diff_texts(before: str, after: str, *, old: int = 1, new: int = 1) -> tuple[Hunk, ...]:
    """Return the hunks between two texts whose first lines are lines `old` and `new` of their files."""
    old_lines, new_lines = before.splitlines(), after.splitlines()
    start, end = _count_common_ends(old_lines, new_lines)
    if start == len(old_lines) == len(new_lines):
        return ()
    # The common ends cost nothing to find, so only the middle counts against the budget.
    first, last = max(0, start - CONTEXT), max(0, end - CONTEXT)
    middle = (old_lines[first : len(old_lines) - last], new_lines[first : len(new_lines) - last])
    if _is_affordable(*middle):
        hunks = compute_hunks("\n".join(middle[0]), "\n".join(middle[1]), CONTEXT)
    else:
        hunks = (_replace_all_lines(*middle, start - first, end - last),)
    return tuple(_shift(hunk, old - 1 + first, new - 1 + first) for hunk in hunks)


def drop_line_numbers(hunks: Iterable[Hunk], header: str) -> tuple[Hunk, ...]:
    """Return the hunks without line numbers, for text whose position in the file is unknown."""
    return tuple(
        Hunk(header, tuple(replace(line, old=None, new=None) for line in hunk.lines)) for hunk in hunks
    )


def _is_affordable(old_lines: list[str], new_lines: list[str]) -> bool:
    # difflib weighs every pair of equal lines; marking changed words weighs every pair of their words.
    old, new = Counter(old_lines), Counter(new_lines)
    pairs = sum(count * new[line] for line, count in old.items())
    differing = [*(old - new).elements(), *(new - old).elements()]
    word_pairs = MAX_RIVALS * sum(len(_WORD.findall(line)) ** 2 for line in differing)
    return pairs <= MAX_LINE_PAIRS and word_pairs <= MAX_WORD_PAIRS


def _count_common_ends(old: list[str], new: list[str]) -> tuple[int, int]:
    """Return how many lines agree at the start, and at the end of the remainder."""
    shorter = min(len(old), len(new))
    start = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    rest = shorter - start
    return start, next((i for i in range(rest) if old[-1 - i] != new[-1 - i]), rest)


def _replace_all_lines(old_lines: list[str], new_lines: list[str], start: int, end: int) -> Hunk:
    """Show everything between the `start` first and the `end` last lines as removed and added."""
    last, shift = len(old_lines) - end, len(new_lines) - len(old_lines)
    lines = [DiffLine(" ", i + 1, i + 1, (DiffPart(old_lines[i]),)) for i in range(start)]
    lines += [DiffLine("-", i + 1, None, (DiffPart(old_lines[i]),)) for i in range(start, last)]
    lines += [
        DiffLine("+", None, i + 1, (DiffPart(new_lines[i]),)) for i in range(start, len(new_lines) - end)
    ]
    lines += [
        DiffLine(" ", i + 1, i + 1 + shift, (DiffPart(old_lines[i]),)) for i in range(last, len(old_lines))
    ]
    return Hunk("", tuple(lines))


def _shift(hunk: Hunk, old: int, new: int) -> Hunk:
    lines = tuple(
        replace(
            line,
            old=None if line.old is None else line.old + old,
            new=None if line.new is None else line.new + new,
        )
        for line in hunk.lines
    )
    return Hunk(_format_header(lines), lines)


def _format_header(lines: tuple[DiffLine, ...]) -> str:
    old_numbers = [line.old for line in lines if line.old is not None]
    new_numbers = [line.new for line in lines if line.new is not None]
    return f"@@ -{_format_range(old_numbers)} +{_format_range(new_numbers)} @@"


def _format_range(numbers: list[int]) -> str:
    return f"{numbers[0] if numbers else 0},{len(numbers)}"
