"""Hunks for texts that an agent chose: the same as `diffs.hunks`, in bounded time.

Comparing is quadratic at its worst, and whoever writes the text can bring that about. Beyond a budget the
changed middle is shown as removed and added as a whole: more to read, nothing hidden.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from controlplane.templatetags.diffs import DiffLine, DiffPart, Hunk
from controlplane.templatetags.diffs import compute_hunks as compared

MAX_PAIRS = 40_000  # equal pairs of lines that the comparison would have to weigh
MAX_MARKS = 12_000_000  # pairs of words that marking the changed ones may weigh, at the very worst
RIVALS = 20  # lines that each changed line may be compared with, about
CONTEXT = 3
_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)


def hunks_between(before: str, after: str, *, old: int = 1, new: int = 1) -> tuple[Hunk, ...]:
    """The whole change; the first lines of the two texts are lines `old` and `new` of their files."""
    gone, come = before.splitlines(), after.splitlines()
    start, end = _shared_ends(gone, come)
    if start == len(gone) == len(come):
        return ()
    first, tail = max(0, start - CONTEXT), max(0, end - CONTEXT)
    middle = (gone[first : len(gone) - tail], come[first : len(come) - tail])
    if _affordable(*middle):
        found = compared("\n".join(middle[0]), "\n".join(middle[1]), CONTEXT)
    else:
        found = (_as_a_whole(*middle, start - first, end - tail),)
    return tuple(_shifted(hunk, old - 1 + first, new - 1 + first) for hunk in found)


def unnumbered(found: Iterable[Hunk], header: str) -> tuple[Hunk, ...]:
    """For a piece of a file whose place is not known."""
    return tuple(
        Hunk(header, tuple(replace(line, old=None, new=None) for line in hunk.lines)) for hunk in found
    )


def _affordable(gone: list[str], come: list[str]) -> bool:
    old, new = Counter(gone), Counter(come)
    pairs = sum(count * new[line] for line, count in old.items())
    differing = [*(old - new).elements(), *(new - old).elements()]
    marks = RIVALS * sum(len(_WORD.findall(line)) ** 2 for line in differing)
    return pairs <= MAX_PAIRS and marks <= MAX_MARKS


def _shared_ends(old: list[str], new: list[str]) -> tuple[int, int]:
    """How many lines are the same at the start, and at the end of what is left."""
    shorter = min(len(old), len(new))
    start = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    rest = shorter - start
    return start, next((i for i in range(rest) if old[-1 - i] != new[-1 - i]), rest)


def _as_a_whole(gone: list[str], come: list[str], start: int, end: int) -> Hunk:
    """All between the `start` first and the `end` last lines as removed and added."""
    last, shift = len(gone) - end, len(come) - len(gone)
    lines = [DiffLine(" ", i + 1, i + 1, (DiffPart(gone[i]),)) for i in range(start)]
    lines += [DiffLine("-", i + 1, None, (DiffPart(gone[i]),)) for i in range(start, last)]
    lines += [DiffLine("+", None, i + 1, (DiffPart(come[i]),)) for i in range(start, len(come) - end)]
    lines += [DiffLine(" ", i + 1, i + 1 + shift, (DiffPart(gone[i]),)) for i in range(last, len(gone))]
    return Hunk("", tuple(lines))


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


def _header(lines: tuple[DiffLine, ...]) -> str:
    olds = [line.old for line in lines if line.old is not None]
    news = [line.new for line in lines if line.new is not None]
    return f"@@ -{olds[0] if olds else 0},{len(olds)} +{news[0] if news else 0},{len(news)} @@"
