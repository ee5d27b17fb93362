"""Recover JSON objects from files that are almost JSON Lines.

Real files contain pretty-printed objects, several objects per line, arrays, commas between objects, comments
and broken lines. Brackets outside of strings are counted; where they never close, a later line that is a
complete record by itself is where reading resumes. Every byte is read once or twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from traces.interchange.formats.json_lines import MAX_LINE_LENGTH, RawLine
from traces.interchange.imports.report import ImportReport, Remark
from traces.ledger import canonical_json

SEPARATORS = " \t\r\n,[]"  # between objects
COMMENT_PREFIXES = ("#", "//")
RECORD_KEYS = frozenset({"id", "timestamp", "files", "intent_id", "intentId"})
NOT_JSON = object()
_OUTSIDE_STRING = re.compile(r'["{}\[\]]')
_INSIDE_STRING = re.compile(r'["\\]')


@dataclass(frozen=True, slots=True)
class Document:
    value: dict[str, Any]
    line: int


@dataclass(slots=True)
class _OpenObject:
    """An object that started on `line` and is not closed yet."""

    line: int = 0
    parts: list[str] = field(default_factory=list)
    size: int = 0
    depth: int = 0
    in_string: bool = False

    def feed(self, text: str, position: int) -> int | None:
        """Consume `text` from a position; return the position after the closing bracket, or None."""
        start = position
        while match := (_INSIDE_STRING if self.in_string else _OUTSIDE_STRING).search(text, position):
            character, position = match[0], match.end()
            if character == "\\":
                position += 1
            elif character == '"':
                self.in_string = not self.in_string
            else:
                self.depth += 1 if character in "{[" else -1
                if self.depth <= 0:
                    self._append(text[start:position])
                    return position
        self._append(text[start:])
        return None

    def _append(self, part: str) -> None:
        self.size += len(part)
        self.parts.append(part)


def recover_documents(lines: Iterable[RawLine], report: ImportReport) -> Iterator[Document]:
    """Yield the JSON objects of the file; report a warning with its line for what cannot be read."""
    pending: _OpenObject | None = None
    misplaced = 0
    for line in lines:
        text = _decode_line(line, report)
        record = _parse_record(text)
        # Inside of an object that never closes, a line that is a record shows where to resume.
        if record is not None and (pending is None or RECORD_KEYS & record.keys()):
            if pending:
                _warn_broken(pending, line.number - 1, report)
            pending = None
            yield Document(record, line.number)
            continue
        if pending is None and text.lstrip().startswith(COMMENT_PREFIXES):
            report.warn(Remark("COMMENT", "Skipped a comment.", line.number))
            continue
        documents, pending = _scan_line(text + "\n", line.number, pending, report)
        misplaced += len(documents)
        yield from documents
        if pending and pending.size > MAX_LINE_LENGTH:
            report.warn(Remark("LINE_TOO_LONG", "Skipped an object larger than 1 MiB.", pending.line))
            pending = None
    if pending:
        report.warn(Remark("TRUNCATED_LAST_LINE", "Skipped the last object: it is truncated.", pending.line))
    if misplaced:
        report.warn(Remark("NOT_JSON_LINES", f"{misplaced} objects are not on a line of their own.", None))


def _decode_line(line: RawLine, report: ImportReport) -> str:
    if line.is_too_long:
        report.warn(Remark("LINE_TOO_LONG", "Skipped a line longer than 1 MiB.", line.number))
        return ""
    try:
        return line.raw.decode("utf-8")
    except UnicodeDecodeError:
        report.warn(Remark("INVALID_UTF8", "Replaced bytes that are not UTF-8 by \ufffd.", line.number))
        return line.raw.decode("utf-8", errors="replace")


def _parse_record(text: str) -> dict[str, Any] | None:
    """Return the object if the line is exactly one record; lines inside of an object are indented."""
    if not text.startswith("{") or not text.rstrip().endswith("}"):
        return None
    value = _parse(text)
    return value if isinstance(value, dict) else None


def _scan_line(
    text: str, number: int, pending: _OpenObject | None, report: ImportReport
) -> tuple[list[Document], _OpenObject | None]:
    documents: list[Document] = []
    position = 0
    while True:
        if pending is None:
            position = _skip_separators(text, position)
            if position == len(text):
                return documents, None
            if text[position] != "{":
                kind = "NOT_AN_OBJECT" if _parse(text[position:]) is not NOT_JSON else "INVALID_JSON"
                report.warn(Remark(kind, "Skipped text that is not a JSON object.", number))
                return documents, None
            pending = _OpenObject(line=number)
        end = pending.feed(text, position)
        if end is None:
            return documents, pending
        value = _parse("".join(pending.parts))
        if isinstance(value, dict):
            documents.append(Document(value, pending.line))
        else:
            _warn_broken(pending, number, report)
        pending, position = None, end


def _skip_separators(text: str, position: int) -> int:
    while position < len(text) and text[position] in SEPARATORS:
        position += 1
    return position


def _parse(text: str) -> Any:
    """Return the JSON value, or NOT_JSON if it is none or cannot be stored as evidence."""
    try:
        return canonical_json.parse(text)
    except ValueError:
        return NOT_JSON


def _warn_broken(pending: _OpenObject, last_line: int, report: ImportReport) -> None:
    lines = f"line {pending.line}" if last_line <= pending.line else f"lines {pending.line} to {last_line}"
    report.warn(Remark("INVALID_JSON", f"Skipped {lines}: not a JSON object.", pending.line))
