"""Hunks for texts that an agent chose: the same as `diffs.hunks`, in bounded time.

Comparing is quadratic at its worst, and whoever writes the text can bring that about. Beyond a budget the
changed middle is shown as removed and added as a whole: more to read, nothing hidden.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from controlplane.templatetags.diffs import Hunk, Line, Part
from controlplane.templatetags.diffs import hunks as compared

PAIRS_MOST = 100_000  # equal pairs of lines that the comparison would have to weigh
MARKS_MOST = 3_000_000  # sum of squared line lengths: what marking changed words may cost
CONTEXT = 3


def hunks_between(before: str, after: str, *, old: int = 1, new: int = 1) -> tuple[Hunk, ...]:
    """The whole change; the first lines of the two texts are lines `old` and `new` of their files."""
    found = compared(before, after, CONTEXT) if _affordable(before, after) else _as_a_whole(before, after)
    return tuple(_shifted(hunk, old - 1, new - 1) for hunk in found)


def unnumbered(found: Iterable[Hunk], header: str) -> tuple[Hunk, ...]:
    """For a piece of a file whose place is not known."""
    return tuple(
        Hunk(header, tuple(replace(line, old=None, new=None) for line in hunk.lines)) for hunk in found
    )


def _affordable(before: str, after: str) -> bool:
    old, new = before.splitlines(), after.splitlines()
    start, end = _shared_ends(old, new)
    gone, come = old[start : len(old) - end], new[start : len(new) - end]
    there = Counter(come)
    pairs = sum(count * there[line] for line, count in Counter(gone).items())
    marks = sum(len(line) ** 2 for line in (*gone, *come))
    return pairs <= PAIRS_MOST and marks <= MARKS_MOST


def _shared_ends(old: list[str], new: list[str]) -> tuple[int, int]:
    """How many lines are the same at the start, and at the end of what is left."""
    shorter = min(len(old), len(new))
    start = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    rest = shorter - start
    return start, next((i for i in range(rest) if old[-1 - i] != new[-1 - i]), rest)


def _as_a_whole(before: str, after: str) -> tuple[Hunk, ...]:
    old, new = before.splitlines(), after.splitlines()
    start, end = _shared_ends(old, new)
    first = max(0, start - CONTEXT)
    last_old = len(old) - end
    shift = len(new) - len(old)
    lines = [Line(" ", i + 1, i + 1, (Part(old[i]),)) for i in range(first, start)]
    lines += [Line("-", i + 1, None, (Part(old[i]),)) for i in range(start, last_old)]
    lines += [Line("+", None, i + 1, (Part(new[i]),)) for i in range(start, len(new) - end)]
    tail = range(last_old, min(len(old), last_old + CONTEXT))
    lines += [Line(" ", i + 1, i + 1 + shift, (Part(old[i]),)) for i in tail]
    return (Hunk("", tuple(lines)),)


def _shifted(hunk: Hunk, old: int, new: int) -> Hunk:
    lines = tuple(
        replace(
            line,
            old=None if line.old is None else line.old + old,
            new=None if line.new is None else line.new + new,
        )
        for line in hunk.lines
    )
    return Hunk(_header(lines), lines)


def _header(lines: tuple[Line, ...]) -> str:
    olds = [line.old for line in lines if line.old is not None]
    news = [line.new for line in lines if line.new is not None]
    return f"@@ -{olds[0] if olds else 0},{len(olds)} +{news[0] if news else 0},{len(news)} @@"
