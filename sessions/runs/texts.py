"""Check the texts of a report against its hashes: what a reviewer sees is what would land."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_RANGE = re.compile(r"@@ -\d{1,9}(?:,\d{1,9})? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_NO_LINE_FEED = "\\"  # a line of a diff that says so of the line before it


class CheckedTexts(NamedTuple):
    """The text before a change, and its diff with the numbers of lines: what the hashes prove."""

    before: str
    diff: str
    added: int
    removed: int


def check_texts(change: Mapping[str, Any]) -> CheckedTexts | None:
    """Return the texts of a reported change; None where its diff does not lead from one hash to the other."""
    diff, content = change.get("diff"), change.get("content")
    if change["change"] == "deleted":
        content = ""
    if not isinstance(diff, str) or not isinstance(content, str):
        return None
    before = revert_diff(content, diff)
    if before is None or not _matches(before, change["before"]) or not _matches(content, change["after"]):
        return None
    signs = [line[0] for line in _list_lines(diff)[2:]]
    return CheckedTexts(before, diff, signs.count("+"), signs.count("-"))


def hash_text(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def count_lines(text: str) -> int:
    return len(_list_lines(text))


def revert_diff(after: str, diff: str) -> str | None:
    """Return the text before a unified diff; None where this is no diff that ends in `after`."""
    lines, before, position = _list_lines(after), list[str](), 0
    for line, span in _list_diff_lines(diff):
        if span is not None:  # the head of a hunk: what lies before it is as it was
            start, length = span
            first = start if length == 0 else start - 1
            if not position <= first <= len(lines):
                return None
            before += lines[position:first]
            position = first
            continue
        if line[0] not in " +-":
            return None
        if line[0] in " +":
            if position >= len(lines) or lines[position] != line[1:]:
                return None
            position += 1
        if line[0] in " -":
            before.append(line[1:])
    return "".join(before + lines[position:])


def _list_diff_lines(diff: str) -> Iterator[tuple[str, tuple[int, int] | None]]:
    """Yield the lines of the hunks, those without a line feed as such; a head with its range afterwards."""
    lines = _list_lines(diff)[2:]  # the names of the file stand first
    for number, line in enumerate(lines, 1):
        following = lines[number] if number < len(lines) else ""
        head = _RANGE.match(line)
        if head:
            yield line, (int(head[1]), int(head[2] or 1))
        elif not line.startswith(_NO_LINE_FEED):
            yield line.removesuffix("\n") if following.startswith(_NO_LINE_FEED) else line, None


def _list_lines(text: str) -> list[str]:
    return _LINES.findall(text)


def _matches(text: str, expected: str | None) -> bool:
    return text == "" if expected is None else hash_text(text) == expected
