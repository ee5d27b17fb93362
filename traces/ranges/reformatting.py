"""Lines that a formatter rewrote: the same tokens, broken and spaced in another way.

White space never counts, beyond parting words and operators. Two more habits of formatters are let through
where they cannot change what a program does: a comma before a closing bracket on the next line, and quotes
of the other kind in languages in which both mean the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from traces.ranges.line_diff import Budget, Gap, common_runs, gaps_between

SAME_QUOTES = frozenset(
    {".py", ".pyi", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".css", ".scss", ".less"}
)
LONGEST_LINE = 4000  # bytes; a longer one is no formatter's
MAX_LINES = 40  # of one statement before and after

Tokens = tuple[bytes, ...]

_TOKEN = re.compile(rb"[0-9A-Za-z_$\x80-\xff]+|[()\[\]{},;]|[\"'`]|[^\s0-9A-Za-z_$\x80-\xff()\[\]{},;\"'`]+")
_STRING = re.compile(rb"\"(?:[^\"\\]|\\.)*\"|`[^`]*`|'([^'\"\\`]*)'")
_NAME = re.compile(rb"[0-9A-Za-z_$\x80-\xff]+")
_KEYWORDS = frozenset(
    b"and assert await case del elif else for from if import in is lambda new not or print raise return "
    b"throw typeof while with yield".split()
)
_CLOSERS = (b")", b"]", b"}")


class Reader:
    """The lines of a text as a formatter leaves them alone; each is read once, when it is asked for."""

    def __init__(self, lines: Sequence[bytes], path: str) -> None:
        self.lines = lines
        self._same_quotes = PurePosixPath(path).suffix.lower() in SAME_QUOTES
        self._read: dict[int, Tokens] = {}

    def tokens(self, index: int) -> Tokens:
        if index not in self._read:
            self._read[index] = self._tokens_of(index)
        return self._read[index]

    def _tokens_of(self, index: int) -> Tokens:
        found = self._raw(index)
        return found[:-1] if found[-1:] == (b",",) and self._comma_is_idle(index, found) else found

    def _raw(self, index: int) -> Tokens:
        line = self.lines[index]
        if len(line) > LONGEST_LINE:
            return (line.strip(),)
        return tuple(_TOKEN.findall(_STRING.sub(_double_quoted, line) if self._same_quotes else line))

    def _comma_is_idle(self, index: int, found: Tokens) -> bool:
        """Whether the comma at the end of a line stands before a closing bracket, behind one element of
        several or of a call or a list: not where it makes a tuple, an elision or an index."""
        if len(found) < 2 or found[-2] in {b",", b"(", b"[", b"{"}:
            return False
        if not self._neighbour(index, 1).startswith(_CLOSERS):
            return False
        above = self._neighbour(index, -1)
        return above.endswith((b",", b"{")) or _opens_arguments(above)

    def _neighbour(self, index: int, step: int) -> bytes:
        """The next line in a direction that is not blank, without the space around it."""
        for distance in range(1, 4):
            at = index + step * distance
            if not 0 <= at < len(self.lines):
                break
            if text := self.lines[at].strip():
                return text
        return b""


def variants(before: Reader, after: Reader, gap: Gap, budget: Budget) -> Iterator[tuple[int, int]]:
    """(line after, line before) of each line in a gap that is a variant of one that stood there before."""
    ours = [after.tokens(at) for at in range(gap.b0, gap.b1)]
    theirs = [before.tokens(at) for at in range(gap.a0, gap.a1)]
    runs = common_runs(theirs, ours, budget)
    for run in runs:
        for step in range(run.length):
            yield gap.b0 + run.after + step, gap.a0 + run.before + step
    for rest in gaps_between(runs, len(theirs), len(ours)):
        inner = Gap(gap.a0 + rest.a0, gap.a0 + rest.a1, gap.b0 + rest.b0, gap.b0 + rest.b1)
        yield from _rebroken(before, after, inner, budget)


def _rebroken(before: Reader, after: Reader, gap: Gap, budget: Budget) -> Iterator[tuple[int, int]]:
    """Whole lines before whose tokens are those of whole lines after, first come first served."""
    a, b = gap.a0, gap.b0
    while a < gap.a1 and b < gap.b1 and budget.take(gap.b1 - b):
        for start in range(b, gap.b1):
            ends = _equal_stretch(before, after, (a, gap.a1), (start, gap.b1))
            if ends is not None:
                yield from _mapped(before, after, (a, ends[0]), (start, ends[1]))
                a, b = ends
                break
        else:
            a += 1


def _equal_stretch(
    before: Reader, after: Reader, a: tuple[int, int], b: tuple[int, int]
) -> tuple[int, int] | None:
    """Where two stretches of whole lines end that begin at `a[0]` and `b[0]` and have the same tokens."""
    (i, a_end), (j, b_end) = (a[0] + 1, a[1]), (b[0] + 1, b[1])
    left, right = before.tokens(a[0]), after.tokens(b[0])
    while left and right and left != right and i - a[0] + j - b[0] < MAX_LINES:
        shared = min(len(left), len(right))
        if left[:shared] != right[:shared]:
            return None
        if len(left) < len(right) and i < a_end:
            left, i = left + before.tokens(i), i + 1
        elif len(right) < len(left) and j < b_end:
            right, j = right + after.tokens(j), j + 1
        else:
            return None
    return (i, j) if left and left == right else None


def _mapped(
    before: Reader, after: Reader, a: tuple[int, int], b: tuple[int, int]
) -> Iterator[tuple[int, int]]:
    """Each line after with the line before that its first token came from; a blank one with that of the
    line above."""
    owners = [at for at in range(*a) for _ in before.tokens(at)]
    place = 0
    for at in range(*b):
        size = len(after.tokens(at))
        yield at, owners[place if size else place - 1]
        place += size


def _double_quoted(match: re.Match[bytes]) -> bytes:
    inner = match.group(1)
    return match.group() if inner is None else b'"' + inner + b'"'


def _opens_arguments(line: bytes) -> bool:
    """Whether a line ends with the bracket of a call or a definition, or of a list, not of a lone
    expression."""
    name = _NAME.findall(line[:-1])[-1:] if _NAME.fullmatch(line[-2:-1]) else []
    if line.endswith(b"("):
        return bool(name) and name[0] not in _KEYWORDS
    return line.endswith(b"[") and not name and line[-2:-1] not in {b")", b"]"}
