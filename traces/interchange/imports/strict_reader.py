"""agent_trace.jsonl to the letter: one entry a line, anything else is an error with its line.

Only a torn last line is set aside: a writer that died in the middle of a line left the rest whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from traces.entries.deduplicate import Submitted, field_errors
from traces.entries.fast_path import reading_of
from traces.interchange.formats import agent_trace
from traces.interchange.formats.json_lines import Line
from traces.interchange.imports.report import ImportReport, Remark
from traces.ledger import canonical_json

TORN = "TRUNCATED_LAST_LINE"


def entries_of(lines: Iterable[Line], report: ImportReport) -> Iterator[Submitted]:
    """The entries that have nothing wrong with them; the rest goes to the report."""
    for line in lines:
        if not line.blank:
            entry = _entry(line, report)
            if entry:
                yield entry


def checked(value: object, line: int | None, report: ImportReport) -> Submitted | None:
    """A parsed value as an entry (an Agent Trace record is converted), or None and an error in the report."""
    if not isinstance(value, dict):
        report.error(Remark("NOT_AN_OBJECT", "An entry is a JSON object.", line))
        return None
    return _without_errors(
        agent_trace.to_entry(value) if agent_trace.is_record(value) else value, line, report
    )


def _without_errors(
    value: dict[str, Any], line: int | None, report: ImportReport, encoded: bytes | None = None
) -> Submitted | None:
    entry = Submitted(value, line, encoded, reading_of(value))
    if entry.reading:
        return entry
    errors = field_errors(entry)
    for error in errors:
        report.error(Remark(error.type, error.message, error.line))
    return None if errors else entry


def _entry(line: Line, report: ImportReport) -> Submitted | None:
    if line.too_long:
        report.error(Remark("LINE_TOO_LONG", "A line has at most 1 MiB.", line.number))
        return None
    plain = canonical_json.read_plain(line.raw)
    if plain and not agent_trace.is_record(plain[0]):
        return _without_errors(plain[0], line.number, report, plain[1])
    try:
        value = canonical_json.parse(line.raw)
    except canonical_json.CanonicalError as error:
        report.error(Remark("INVALID_JSON", str(error), line.number))
    except ValueError as error:
        if not line.ended:
            report.warn(Remark(TORN, "The last line breaks off; it was set aside.", line.number))
        elif isinstance(error, UnicodeDecodeError):
            report.error(Remark("INVALID_UTF8", f"Byte {error.start} of the line is not UTF-8.", line.number))
        else:
            report.error(Remark("INVALID_JSON", _not_json(error), line.number))
    else:
        return checked(value, line.number, report)
    return None


def _not_json(error: ValueError) -> str:
    """The parser's words without its own count of lines: it saw one line of the file."""
    if isinstance(error, json.JSONDecodeError):
        return f"Not JSON at column {error.colno}: {error.msg}."
    return f"Not JSON: {error}."
