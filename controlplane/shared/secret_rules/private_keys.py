"""Private keys in their armour, in one pass: many beginnings without an end cost no more than others."""

from __future__ import annotations

from collections.abc import Iterator

from controlplane.shared.secret_rules.rule import Span, compile_pattern

HINT = "private"
_BEGIN = compile_pattern(
    r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
    r"|PuTTY-User-Key-File-\d|Private-Lines: \d{1,4}"
)
_END = compile_pattern(
    r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|Private-MAC: [0-9a-f]{1,128}"
)
# What follows the beginning of a key that is cut off: lines of base64, with the line ends of JSON too.
_CONTENT = compile_pattern(
    r"(?:(?:\s|\\+[nr])*(?:[A-Za-z0-9+/=]{20,}|(?:Proc-Type|DEK-Info|Comment|Version|Encryption): [^\n\\]*))*"
    r"(?:(?:\s|\\+[nr])*[A-Za-z0-9+/]+={1,2})?"
)


def find_private_keys(text: bytes) -> Iterator[Span]:
    """Yield each key with its armour; of one without an end what looks like its content."""
    ends = [match.end() for match in _END.finditer(text)]
    position, following = 0, 0
    begins = [match.span() for match in _BEGIN.finditer(text)]
    for start, content in begins:
        if start < position:
            continue
        while following < len(ends) and ends[following] < content:
            following += 1
        if following < len(ends):
            position = ends[following]
        else:
            position = max(content, _CONTENT.match(text, content).end())
        yield start, position
