"""Finding JSON objects in files that only nearly are JSON Lines.

Real files hold pretty-printed objects, several objects on a line, arrays, commas between objects,
`#` comments, broken lines. Brackets are counted outside of texts; where they never close, a later
line that is a whole record by itself shows where to go on. Every byte is looked at once or twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from traces.interchange.formats.json_lines import MAX_LINE_LENGTH, Line
from traces.interchange.imports.report import ImportReport, Remark
from traces.ledger import canonical_json

BETWEEN = " \t\r\n,[]"  # what may stand between objects
COMMENTS = ("#", "//")
RECORD_KEYS = frozenset({"id", "timestamp", "files", "intent_id", "intentId"})
NOTHING = object()
_OUTSIDE = re.compile(r'["{}\[\]]')
_INSIDE = re.compile(r'["\\]')


@dataclass(frozen=True, slots=True)
class Document:
    value: dict[str, Any]
    line: int


@dataclass(slots=True)
class _Open:
    """An object that began on `line` and is not closed yet."""

    line: int = 0
    parts: list[str] = field(default_factory=list)
    size: int = 0
    depth: int = 0
    in_text: bool = False

    def feed(self, text: str, at: int) -> int | None:
        """Take `text` from `at`; the position behind the closing bracket, or None when it goes on."""
        start = at
        while found := (_INSIDE if self.in_text else _OUTSIDE).search(text, at):
            mark, at = found[0], found.end()
            if mark == "\\":
                at += 1
            elif mark == '"':
                self.in_text = not self.in_text
            else:
                self.depth += 1 if mark in "{[" else -1
                if self.depth <= 0:
                    self._keep(text[start:at])
                    return at
        self._keep(text[start:])
        return None

    def _keep(self, part: str) -> None:
        self.size += len(part)
        self.parts.append(part)


def documents_of(lines: Iterable[Line], report: ImportReport) -> Iterator[Document]:
    """The JSON objects of the file; what cannot be read is listed as a warning with its line."""
    pending: _Open | None = None
    several = 0
    for line in lines:
        text = _text(line, report)
        alone = _record(text)
        if alone is not None and (pending is None or RECORD_KEYS & alone.keys()):
            if pending:
                _broken(pending, line.number - 1, report)
            pending = None
            yield Document(alone, line.number)
            continue
        if pending is None and text.lstrip().startswith(COMMENTS):
            report.warn(Remark("COMMENT", "A comment was left out.", line.number))
            continue
        found, pending = _scan(text + "\n", line.number, pending, report)
        several += len(found)
        yield from found
        if pending and pending.size > MAX_LINE_LENGTH:
            report.warn(Remark("LINE_TOO_LONG", "An object of more than 1 MiB was left out.", pending.line))
            pending = None
    if pending:
        report.warn(
            Remark("TRUNCATED_LAST_LINE", "The last object breaks off; it was left out.", pending.line)
        )
    if several:
        report.warn(Remark("NOT_JSON_LINES", f"{several} objects do not stand on one line each.", None))


def _text(line: Line, report: ImportReport) -> str:
    if line.too_long:
        report.warn(Remark("LINE_TOO_LONG", "A line of more than 1 MiB was left out.", line.number))
        return ""
    try:
        return line.raw.decode("utf-8")
    except UnicodeDecodeError:
        report.warn(Remark("INVALID_UTF8", "Bytes that are not UTF-8 became \ufffd.", line.number))
        return line.raw.decode("utf-8", errors="replace")


def _record(text: str) -> dict[str, Any] | None:
    """The object, where the line is one record and nothing else (lines inside an object are indented)."""
    if not text.startswith("{") or not text.rstrip().endswith("}"):
        return None
    value = _parsed(text)
    return value if isinstance(value, dict) else None


def _scan(
    text: str, number: int, pending: _Open | None, report: ImportReport
) -> tuple[list[Document], _Open | None]:
    found: list[Document] = []
    at = 0
    while True:
        if pending is None:
            at = _next(text, at)
            if at == len(text):
                return found, None
            if text[at] != "{":
                kind = "NOT_AN_OBJECT" if _parsed(text[at:]) is not NOTHING else "INVALID_JSON"
                report.warn(Remark(kind, "What is no object was left out.", number))
                return found, None
            pending = _Open(line=number)
        end = pending.feed(text, at)
        if end is None:
            return found, pending
        value = _parsed("".join(pending.parts))
        if isinstance(value, dict):
            found.append(Document(value, pending.line))
        else:
            _broken(pending, number, report)
        pending, at = None, end


def _next(text: str, at: int) -> int:
    while at < len(text) and text[at] in BETWEEN:
        at += 1
    return at


def _parsed(text: str) -> Any:
    """The JSON value, or NOTHING when it is none or cannot be evidence as it stands."""
    try:
        return canonical_json.parse(text)
    except ValueError:
        return NOTHING


def _broken(pending: _Open, last: int, report: ImportReport) -> None:
    lines = f"line {pending.line}" if last <= pending.line else f"lines {pending.line} to {last}"
    report.warn(
        Remark("INVALID_JSON", f"What stands on {lines} is no JSON object and was left out.", pending.line)
    )
