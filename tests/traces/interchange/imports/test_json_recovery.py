"""JSON objects out of files that are almost JSON Lines."""

from __future__ import annotations

import pytest

from tests.traces.interchange.imports.samples import bring, entry, line_of, traces, types
from traces.interchange.formats import json_lines

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("raw", "entries", "warnings"),
    [
        (b'[{"id":"a","timestamp":"2026-02-21T12:00:00Z","files":[]},\n{"id":"b","timestamp":"2026-02-21T12:00:00Z","files":[]}]', 2, ["NOT_JSON_LINES"]),
        (b'{"id":"a","timestamp":"2026-02-21T12:00:00Z","files":[]}{"id":"b","timestamp":"2026-02-21T12:00:00Z","files":[]}\n', 2, ["NOT_JSON_LINES"]),
        (b"# head\n// more\n" + line_of(entry("a")), 1, ["COMMENT", "COMMENT"]),
        (b'7\n"x"\nnull\nnonsense\n' + line_of(entry("a")), 1, ["NOT_AN_OBJECT"] * 3 + ["INVALID_JSON"]),
        (line_of(entry("a")) + b'{"id": "b", "files": [', 1, ["TRUNCATED_LAST_LINE"]),
        (b'{"id": "b", "files": [\n' + line_of(entry("a")), 1, ["INVALID_JSON"]),
        (b'{"id": "b", "x": "a}{\\"b", "timestamp": "2026-02-21T12:00:00Z",\n"files": []}\n', 1, ["NOT_JSON_LINES"]),
        (line_of(entry("a"), entry("a", extra=1)), 2, ["DUPLICATE_ID"]),
        (b'{"id":"a","timestamp":"2026-02-21T12:00:00Z","files":[],"note":"caf\xe9"}\n', 1, ["INVALID_UTF8"]),
        (b'{"id":"a","id":"b","timestamp":"2026-02-21T12:00:00Z","files":[]}\n', 0, ["INVALID_JSON"]),
        (b"", 0, []),
        (line_of({}), 1, ["ID_ASSIGNED", "TIME_UNKNOWN", "REPAIRED"]),
        (line_of({"id": "a", "ts": "2026-02-21T12:00:00"}), 1, ["TIME_ZONE_ASSUMED", "REPAIRED"]),
    ],
)  # fmt: skip
def test_what_can_be_recovered_is(raw, entries, warnings):
    report = bring(raw, lenient=True)
    assert report.is_valid
    assert types(report.warnings) == warnings
    assert report.entries == traces().count() == entries


def test_an_object_too_long_to_keep_is_left_out_and_reading_goes_on(monkeypatch):
    monkeypatch.setattr(json_lines, "MAX_LINE_LENGTH", 2000)
    long = b'{"id": "b", "x": [\n' + b'"y",\n' * 500 + line_of(entry("a"))
    assert bring(long, lenient=True).entries == 1
    huge = b'{"id": "' + b"y" * 5000 + b'"}\n' + line_of(entry("c"))
    report = bring(huge, lenient=True)
    assert (report.entries, types(report.warnings)) == (1, ["LINE_TOO_LONG"])
    report = bring(huge)
    assert [(error.type, error.line) for error in report.errors] == [("LINE_TOO_LONG", 1)]
