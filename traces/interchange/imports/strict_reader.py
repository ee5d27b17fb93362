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
from traces.interchange.formats.json_lines import RawLine
from traces.interchange.imports.report import ImportReport, Remark
from traces.ledger import canonical_json

TRUNCATED_LINE = "TRUNCATED_LAST_LINE"


def read_entries(lines: Iterable[RawLine], report: ImportReport) -> Iterator[Submitted]:
    """The entries that have nothing wrong with them; the rest goes to the report."""
    for line in lines:
        if not line.is_blank:
            entry = _read_entry(line, report)
            if entry:
                yield entry


def check_value(value: object, line: int | None, report: ImportReport) -> Submitted | None:
    """A parsed value as an entry (an Agent Trace record is converted), or None and an error in the report."""
    if not isinstance(value, dict):
        report.error(Remark("NOT_AN_OBJECT", "An entry is a JSON object.", line))
        return None
    return _check_entry(agent_trace.to_entry(value) if agent_trace.is_record(value) else value, line, report)


def _check_entry(
    value: dict[str, Any], line: int | None, report: ImportReport, encoded: bytes | None = None
) -> Submitted | None:
    entry = Submitted(value, line, encoded, reading_of(value))
    if entry.reading:
        return entry
    errors = field_errors(entry)
    for error in errors:
        report.error(Remark(error.type, error.message, error.line))
    return None if errors else entry


def _read_entry(line: RawLine, report: ImportReport) -> Submitted | None:
    if line.is_too_long:
        report.error(Remark("LINE_TOO_LONG", "A line has at most 1 MiB.", line.number))
        return None
    fast_parsed = canonical_json.read_plain(line.raw)
    if fast_parsed and not agent_trace.is_record(fast_parsed[0]):
        return _check_entry(fast_parsed[0], line.number, report, fast_parsed[1])
    try:
        value = canonical_json.parse(line.raw)
    except canonical_json.CanonicalError as error:
        report.error(Remark("INVALID_JSON", str(error), line.number))
    except ValueError as error:
        if not line.has_newline:
            report.warn(Remark(TRUNCATED_LINE, "The last line breaks off; it was set aside.", line.number))
        elif isinstance(error, UnicodeDecodeError):
            report.error(Remark("INVALID_UTF8", f"Byte {error.start} of the line is not UTF-8.", line.number))
        else:
            report.error(Remark("INVALID_JSON", _describe_json_error(error), line.number))
    else:
        return check_value(value, line.number, report)
    return None


def _describe_json_error(error: ValueError) -> str:
    """The parser's words without its own count of lines: it saw one line of the file."""
    if isinstance(error, json.JSONDecodeError):
        return f"Not JSON at column {error.colno}: {error.msg}."
    return f"Not JSON: {error}."
