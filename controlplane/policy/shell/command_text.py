"""The text of a command, and the mapping between its byte offsets and code points."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from controlplane.policy.shell.result import UnclearCommandError

MAX_BYTES = 16 * 1024
# An unfinished chain of pipes takes the parser quadratic time in one step, which no callback can interrupt.
MAX_PIPES = 250

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# The scanner hands such a letter to isdigit() unchecked and may crash the process (tree-sitter-bash #337).
BRACE_READ_TOO_FAR = re.compile(r"\{[0-9]*(?:\.\.[0-9]*)?[^\x00-\xff]")


class CommandText:
    """The text of a command. Spans count bytes inside of this package, code points outside."""

    def __init__(self, text: str, data: bytes) -> None:
        self.text = text
        self.data = data
        self._starts: list[int] | None = None

    def slice(self, start: int, end: int) -> str:
        return self.data[start:end].decode("utf-8", "replace")

    def offset(self, byte: int) -> int:
        """Return the code point at a byte offset."""
        if len(self.data) == len(self.text):
            return byte
        if self._starts is None:
            sizes = (len(char.encode()) for char in self.text)
            self._starts = list(accumulate(sizes, initial=0))
        return bisect_right(self._starts, byte) - 1


def encode_command(command: str) -> bytes:
    """Encode a command; raises UnclearCommandError for text that is too long or hostile to the parser."""
    if CONTROL.search(command):
        raise UnclearCommandError("the command holds control characters")
    try:
        data = command.encode()
    except UnicodeEncodeError:
        raise UnclearCommandError("the command is not valid Unicode") from None
    if len(data) > MAX_BYTES:
        raise UnclearCommandError(f"the command is longer than {MAX_BYTES} bytes")
    if BRACE_READ_TOO_FAR.search(command):
        raise UnclearCommandError("a brace before a character that the parser cannot handle")
    if data.count(b"|") > MAX_PIPES:
        raise UnclearCommandError(f"the command holds more than {MAX_PIPES} pipes")
    return data
