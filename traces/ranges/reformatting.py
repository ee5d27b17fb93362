"""Match lines that a formatter rewrote: the same tokens, wrapped and spaced differently.

White space counts only where it separates words and operators. Two more habits of formatters are accepted
where they cannot change what a program does: a comma before a closing bracket on the next line, and other
quotes in languages in which both mean the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from traces.ranges.line_diff import DiffHunk, WorkLimit, find_common_runs, list_hunks

EQUAL_QUOTES_SUFFIXES = frozenset(
    {".py", ".pyi", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".css", ".scss", ".less"}
)
MAX_LINE_LENGTH = 4000  # bytes; no formatter leaves longer ones
MAX_STATEMENT_LINES = 40  # of one statement, before and after together

Tokens = tuple[bytes, ...]

_TOKEN = re.compile(rb"[0-9A-Za-z_$\x80-\xff]+|[()\[\]{},;]|[\"'`]|[^\s0-9A-Za-z_$\x80-\xff()\[\]{},;\"'`]+")
_STRING = re.compile(rb"\"(?:[^\"\\]|\\.)*\"|`[^`]*`|'([^'\"\\`]*)'")
_NAME = re.compile(rb"[0-9A-Za-z_$\x80-\xff]+")
_KEYWORDS = frozenset(
    b"and assert await case del elif else for from if import in is lambda new not or print raise return "
    b"throw typeof while with yield".split()
)
_CLOSING_BRACKETS = (b")", b"]", b"}")


class TokenizedLines:
    """Lines as tokens that formatters preserve; each is tokenized at first use."""

    def __init__(self, lines: Sequence[bytes], path: str) -> None:
        self.lines = lines
        self._has_equal_quotes = PurePosixPath(path).suffix.lower() in EQUAL_QUOTES_SUFFIXES
        self._tokens: dict[int, Tokens] = {}

    def tokens(self, index: int) -> Tokens:
        if index not in self._tokens:
            self._tokens[index] = self._tokenize(index)
        return self._tokens[index]

    def _tokenize(self, index: int) -> Tokens:
        tokens = self._split(index)
        return tokens[:-1] if tokens[-1:] == (b",",) and self._is_trailing_comma(index, tokens) else tokens

    def _split(self, index: int) -> Tokens:
        line = self.lines[index]
        if len(line) > MAX_LINE_LENGTH:
            return (line.strip(),)
        return tuple(
            _TOKEN.findall(_STRING.sub(_use_double_quotes, line) if self._has_equal_quotes else line)
        )

    def _is_trailing_comma(self, index: int, tokens: Tokens) -> bool:
        """Whether the comma at the end of a line is optional.

        It is before a closing bracket, after one of several elements or an element of a call or list; not
        where it makes a tuple, an elision or an index.
        """
        if len(tokens) < 2 or tokens[-2] in {b",", b"(", b"[", b"{"}:
            return False
        if not self._find_neighbour(index, 1).startswith(_CLOSING_BRACKETS):
            return False
        above = self._find_neighbour(index, -1)
        return above.endswith((b",", b"{")) or _opens_arguments(above)

    def _find_neighbour(self, index: int, step: int) -> bytes:
        """Return the nearest line in a direction that is not blank, stripped."""
        for distance in range(1, 4):
            position = index + step * distance
            if not 0 <= position < len(self.lines):
                break
            if text := self.lines[position].strip():
                return text
        return b""


def match_reformatted(
    before: TokenizedLines, after: TokenizedLines, hunk: DiffHunk, work_limit: WorkLimit
) -> Iterator[tuple[int, int]]:
    """Yield (line after, line before) for each line of a hunk that reformats one before."""
    new_tokens = [after.tokens(at) for at in range(hunk.b0, hunk.b1)]
    old_tokens = [before.tokens(at) for at in range(hunk.a0, hunk.a1)]
    runs = find_common_runs(old_tokens, new_tokens, work_limit)
    for run in runs:
        for step in range(run.length):
            yield hunk.b0 + run.after + step, hunk.a0 + run.before + step
    for unmatched in list_hunks(runs, len(old_tokens), len(new_tokens)):
        inner_hunk = DiffHunk(
            hunk.a0 + unmatched.a0, hunk.a0 + unmatched.a1, hunk.b0 + unmatched.b0, hunk.b0 + unmatched.b1
        )
        yield from _match_rewrapped(before, after, inner_hunk, work_limit)


def _match_rewrapped(
    before: TokenizedLines, after: TokenizedLines, hunk: DiffHunk, work_limit: WorkLimit
) -> Iterator[tuple[int, int]]:
    """Match sequences of lines with the same tokens, first come first served."""
    a, b = hunk.a0, hunk.b0
    while a < hunk.a1 and b < hunk.b1 and work_limit.consume(hunk.b1 - b):
        for start in range(b, hunk.b1):
            ends = _find_equal_tokens(before, after, (a, hunk.a1), (start, hunk.b1))
            if ends is not None:
                yield from _map_lines(before, after, (a, ends[0]), (start, ends[1]))
                a, b = ends
                break
        else:
            a += 1


def _find_equal_tokens(
    before: TokenizedLines, after: TokenizedLines, a: tuple[int, int], b: tuple[int, int]
) -> tuple[int, int] | None:
    """Return where two sequences with the same tokens end that start at `a[0]` and `b[0]`."""
    (i, a_end), (j, b_end) = (a[0] + 1, a[1]), (b[0] + 1, b[1])
    left, right = before.tokens(a[0]), after.tokens(b[0])
    while left and right and left != right and i - a[0] + j - b[0] < MAX_STATEMENT_LINES:
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


def _map_lines(
    before: TokenizedLines, after: TokenizedLines, a: tuple[int, int], b: tuple[int, int]
) -> Iterator[tuple[int, int]]:
    """Map each line to the one before that its first token came from; a blank one like the line above."""
    lines_by_token = [at for at in range(*a) for _ in before.tokens(at)]
    token_index = 0
    for at in range(*b):
        size = len(after.tokens(at))
        yield at, lines_by_token[token_index if size else token_index - 1]
        token_index += size


def _use_double_quotes(match: re.Match[bytes]) -> bytes:
    inner = match.group(1)
    return match.group() if inner is None else b'"' + inner + b'"'


def _opens_arguments(line: bytes) -> bool:
    """Whether a line ends with the bracket of a call, a definition or a list, not of a grouped expression."""
    name = _NAME.findall(line[:-1])[-1:] if _NAME.fullmatch(line[-2:-1]) else []
    if line.endswith(b"("):
        return bool(name) and name[0] not in _KEYWORDS
    return line.endswith(b"[") and not name and line[-2:-1] not in {b")", b"]"}
