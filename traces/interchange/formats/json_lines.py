"""Reading JSON Lines from a stream: LF or CRLF end a line and nothing else does.

(`str.splitlines` also splits at U+2028 and friends, which may stand inside JSON texts.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

CHUNK = 64 * 1024
MAX_LINE_LENGTH = 1024 * 1024  # bytes
BOM = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """`raw` has no line end; it is cut when `too_long`. `ended` is False for a last line without LF."""

    number: int
    raw: bytes
    ended: bool
    too_long: bool = False

    @property
    def blank(self) -> bool:
        return not self.raw.strip(b" \t\r")


def read_lines(read: Callable[[int], bytes]) -> Iterator[Line]:
    """Lines of what `read(size)` gives until it gives nothing. Memory holds one chunk and one line."""
    number, pending, too_long = 1, b"", False
    while chunk := read(CHUNK):
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            yield _line(number, pending + piece, ended=True, too_long=too_long)
            number, pending, too_long = number + 1, b"", False
        pending += rest
        if len(pending) > MAX_LINE_LENGTH:
            pending, too_long = pending[:1], True
    if pending:
        yield _line(number, pending, ended=False, too_long=too_long)


def _line(number: int, raw: bytes, *, ended: bool, too_long: bool) -> Line:
    if number == 1:
        raw = raw.removeprefix(BOM)
    return Line(number, raw.removesuffix(b"\r"), ended, too_long or len(raw) > MAX_LINE_LENGTH)
