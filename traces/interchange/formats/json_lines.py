"""Split a stream into JSON Lines: only LF and CRLF end a line.

`str.splitlines` also splits at U+2028 and others, which may occur inside of JSON strings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

CHUNK_SIZE = 64 * 1024
MAX_LINE_LENGTH = 1024 * 1024  # bytes
BOM = b"\xef\xbb\xbf"


class RawLine(NamedTuple):
    """One line without its end. `raw` is cut when it is too long; only a last line may lack its LF."""

    number: int
    raw: bytes
    has_newline: bool
    is_too_long: bool = False

    @property
    def is_blank(self) -> bool:
        return not self.raw.strip(b" \t\r")


def read_lines(read: Callable[[int], bytes]) -> Iterator[RawLine]:
    """Yield the lines of what `read(size)` returns until it returns nothing.

    Memory is one chunk and one line.
    """
    number, pending, is_too_long = 1, b"", False
    while chunk := read(CHUNK_SIZE):
        *complete, rest = chunk.split(b"\n")
        for piece in complete:
            yield _build_line(number, pending + piece, has_newline=True, is_too_long=is_too_long)
            number, pending, is_too_long = number + 1, b"", False
        pending += rest
        if len(pending) > MAX_LINE_LENGTH:
            pending, is_too_long = pending[:1], True
    if pending:
        yield _build_line(number, pending, has_newline=False, is_too_long=is_too_long)


def _build_line(number: int, raw: bytes, *, has_newline: bool, is_too_long: bool) -> RawLine:
    if number == 1:
        raw = raw.removeprefix(BOM)
    return RawLine(number, raw.removesuffix(b"\r"), has_newline, is_too_long or len(raw) > MAX_LINE_LENGTH)
