"""Read agent_trace.jsonl strictly: one entry per line; anything else is an error with its line.

Only a truncated last line is skipped with a warning: a writer that died left the lines before it intact.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from traces.entries.deduplicate import SubmittedEntry, validate_fields
from traces.entries.fast_path import parse_ordinary_entry
from traces.interchange.formats import agent_trace
from traces.interchange.formats.json_lines import RawLine
from traces.interchange.imports.report import ImportReport, Remark
from traces.ledger import canonical_json

TRUNCATED_LINE = "TRUNCATED_LAST_LINE"


def read_entries(lines: Iterable[RawLine], report: ImportReport) -> Iterator[SubmittedEntry]:
    """Yield valid entries; report errors for the rest."""
    for line in lines:
        if not line.is_blank:
            entry = _read_entry(line, report)
            if entry:
                yield entry


def check_value(value: object, line: int | None, report: ImportReport) -> SubmittedEntry | None:
    """Validate a parsed value; return None and report errors if it is not an entry.

    An Agent Trace record is converted first.
    """
    if not isinstance(value, dict):
        report.error(Remark("NOT_AN_OBJECT", "An entry must be a JSON object.", line))
        return None
    return _check_entry(agent_trace.to_entry(value) if agent_trace.is_record(value) else value, line, report)


def _check_entry(
    value: dict[str, Any], line: int | None, report: ImportReport, encoded: bytes | None = None
) -> SubmittedEntry | None:
    entry = SubmittedEntry(value, line, encoded, parse_ordinary_entry(value))
    if entry.parsed:
        return entry
    errors = validate_fields(entry)
    for error in errors:
        report.error(Remark(error.type, error.message, error.line))
    return None if errors else entry


def _read_entry(line: RawLine, report: ImportReport) -> SubmittedEntry | None:
    if line.is_too_long:
        report.error(Remark("LINE_TOO_LONG", "A line must not be longer than 1 MiB.", line.number))
        return None
    # Most lines are plain: parsed and canonically encoded in one pass.
    fast_parsed = canonical_json.read_plain(line.raw)
    if fast_parsed and not agent_trace.is_record(fast_parsed[0]):
        return _check_entry(fast_parsed[0], line.number, report, fast_parsed[1])
    try:
        value = canonical_json.parse(line.raw)
    except canonical_json.CanonicalError as error:
        report.error(Remark("INVALID_JSON", str(error), line.number))
    except ValueError as error:
        if not line.has_newline:
            report.warn(Remark(TRUNCATED_LINE, "Skipped the last line: it is truncated.", line.number))
        elif isinstance(error, UnicodeDecodeError):
            report.error(
                Remark("INVALID_UTF8", f"Byte {error.start} of the line is not valid UTF-8.", line.number)
            )
        else:
            report.error(Remark("INVALID_JSON", _describe_json_error(error), line.number))
    else:
        return check_value(value, line.number, report)
    return None


def _describe_json_error(error: ValueError) -> str:
    """Return the parser's message without its line number: it saw one line of the file."""
    if isinstance(error, json.JSONDecodeError):
        return f"Not JSON at column {error.colno}: {error.msg}."
    return f"Not JSON: {error}."
