"""Whole files: to the letter, with repairs, and what real people's ledgers hold."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.db import IntegrityError

from tests.traces.builders import HOME
from traces.interchange import post_entries as posting
from traces.interchange.formats import json_lines
from traces.interchange.imports.import_file import TraceImportOptions, import_file
from traces.interchange.post_entries import post_entries
from traces.ledger.append import body_of
from traces.ledger.verify import verify
from traces.models import Kind, LedgerEntry, TraceFile

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parent.parent / "data" / "traces"
BAD = json.loads((DATA / "bad_input" / "index.json").read_text(encoding="utf-8"))
REAL = json.loads((DATA / "real" / "facts.json").read_text(encoding="utf-8"))


def entry(entry_id="e-1", **more):
    return {
        "id": entry_id,
        "timestamp": "2026-02-21T12:00:00Z",
        "vcs": {"revision_id": "abc"},
        "files": [],
        **more,
    }


def line_of(*values):
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def bring(raw, **how):
    return import_file(io.BytesIO(raw).read, TraceImportOptions(HOME, "token:1:Max", **how))


def traces():
    return LedgerEntry.objects.filter(kind=Kind.TRACE)


def types(remarks):
    return [remark.type for remark in remarks]


@pytest.mark.parametrize("case", BAD, ids=lambda case: case["file"])
@pytest.mark.parametrize("way", ["import", "post"])
def test_bad_input_is_answered_as_expected(case, way):
    raw = (DATA / "bad_input" / case["file"]).read_bytes()
    report = bring(raw) if way == "import" else post_entries(HOME, raw, "token:1:Max")[0]
    assert report.is_valid is (case["outcome"] == "accepted")
    assert traces().count() == report.entries == case.get("entries", 0)
    for wanted in case.get("errors", []):
        kinds = wanted.get("types_in", [wanted["type"]])
        assert any(error.type in kinds and error.line == wanted["line"] for error in report.errors)
    assert types(report.warnings) == case["warnings"]
    if "warning_line" in case:
        assert report.warnings[0].line == case["warning_line"]


@pytest.mark.parametrize("name", REAL)
def test_real_ledgers_are_recovered_and_every_repair_is_listed(name):
    raw = (DATA / "real" / name).read_bytes()
    report = bring(raw, lenient=True)
    assert report.is_valid
    assert report.entries + report.duplicates == REAL[name]["documents"]
    assert traces().count() == report.entries
    assert report.duplicates == 0
    for stored in traces().select_related("body"):
        body = body_of(stored)
        assert "original" not in body or body["original"] in [*_objects(raw)] or REAL[name]["lines_bad"]
    again = bring(raw, lenient=True)
    assert (again.entries, again.duplicates) == (0, report.entries)
    assert verify(HOME).ok


@pytest.mark.parametrize("name", REAL)
def test_real_ledgers_to_the_letter_are_taken_whole_or_refused_with_lines(name):
    raw = (DATA / "real" / name).read_bytes()
    report = bring(raw)
    if report.is_valid:
        assert report.entries == REAL[name]["lines_json"] + report.duplicates
    else:
        assert all(error.line for error in report.errors)
        assert not LedgerEntry.objects.exists()


def _objects(raw):
    for line in raw.split(b"\n"):
        try:
            yield json.loads(line)
        except ValueError:
            continue


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


def test_lines_are_read_the_same_whatever_the_size_of_the_chunks(monkeypatch):
    raw = b'\xef\xbb\xbf{"a":"\xe2\x80\xa8"}\r\n\n  \n{"b":1}\r\n{"c"'
    whole = list(json_lines.read_lines(io.BytesIO(raw).read))
    assert [(line.number, line.raw, line.has_newline) for line in whole if not line.is_blank] == [
        (1, b'{"a":"\xe2\x80\xa8"}', True),
        (4, b'{"b":1}', True),
        (5, b'{"c"', False),
    ]
    for size in range(1, 12):
        monkeypatch.setattr(json_lines, "CHUNK_SIZE", size)
        assert list(json_lines.read_lines(io.BytesIO(raw).read)) == whole


@pytest.mark.parametrize(
    ("record", "files"),
    [
        ({"path": "src\\a.js", "sha256": "a" * 64, "intent_id": "INT-1"}, [("src/a.js", "INT-1", "sha256:" + "a" * 64)]),
        ({"filePath": "a.js", "intentId": "INT-1"}, [("a.js", "INT-1", "")]),
        ({"file": "a.js", "related": ["INT-2"], "ranges": {"content_hash": "n/a"}}, [("a.js", "INT-2", "")]),
        ({"files": ["a.js", "b.js"], "active_intent_id": "INT-3"}, [("a.js", "INT-3", ""), ("b.js", "INT-3", "")]),
        ({"tool": "read_file", "path": "a.js"}, []),
        ({"files": [{"relative_path": "/etc/passwd"}, {"relative_path": "C:\\x"}, {"relative_path": "../x"}]}, []),
        (
            {"modified_ranges": [{"file": "a.js", "new_range": {"start_line": 1, "end_line": 5}, "after_hash": "sha256:cc"}]},
            [("a.js", "", "sha256:cc")],
        ),
        (
            {"files": [{"path": "a.js", "related": [{"type": "intent", "value": "INT-4"}, {"type": "specification", "value": "R"}]}]},
            [("a.js", "INT-4", ""), ("a.js", "R", "")],
        ),
        ({"spec_id": "UNSPECIFIED", "files": [{"file": "a.js", "ranges": [{"start_line": 1, "end_line": -1}]}]}, [("a.js", "", "")]),
    ],
)  # fmt: skip
def test_files_and_intents_are_found_wherever_they_stand(record, files):
    bring(line_of({"id": "a", "timestamp": "2026-02-21T12:00:00Z", **record}), lenient=True)
    found = TraceFile.objects.order_by("pk").values_list("path", "intent_id", "content_hash")
    assert list(found) == files
    assert body_of(traces().get())["original"]["id"] == "a"


@pytest.mark.parametrize(
    "holder",
    [
        {"mutation_class": "AST_REFACTOR"},
        {"mutation": {"mutation_class": "AST_REFACTOR"}},
        {"classification": "AST_REFACTOR"},
        {"files": [{"relative_path": "a", "mutation_class": "AST_REFACTOR"}]},
        {"files": [{"relative_path": "a", "conversations": [{"mutation_class": "AST_REFACTOR"}]}]},
        {"files": [{"relative_path": "a", "conversations": [{"meta": {"mutation_class": "AST_REFACTOR"}}]}]},
        {"files": [{"relative_path": "a", "conversations": [{"related": [{"type": "mutation_class", "value": "AST_REFACTOR"}]}]}]},
    ],
)  # fmt: skip
def test_the_mutation_class_is_found_wherever_it_stands(holder):
    bring(line_of(entry("a", **holder)), lenient=True)
    assert traces().get().outcome == "AST_REFACTOR"


def test_a_record_that_says_all_stays_as_it_is():
    record = entry(
        "a", mutation_class="AST_REFACTOR", intent_id="INT-1", files=[{"relative_path": "a"}], other=[1]
    )
    report = bring(line_of(record), lenient=True)
    assert report.warnings == []
    assert body_of(traces().get()) == record


def test_a_dry_run_says_the_same_and_changes_nothing():
    raw = line_of(entry("a"), entry("b"), entry("a"))
    planned = bring(raw, dry_run=True)
    assert not LedgerEntry.objects.exists()
    done = bring(raw)
    assert planned.to_dict() == done.to_dict()
    assert (done.entries, done.duplicates) == (2, 1)


def test_an_import_is_itself_an_entry_and_sealed_at_once():
    bring(line_of(entry("a")))
    record = LedgerEntry.objects.get(kind=Kind.IMPORT)
    assert body_of(record)["entries"] == 1
    report = verify(HOME)
    assert (report.checked, report.unsealed) == (2, 0)


def test_a_rewrite_of_what_was_imported_changes_nothing():
    bring(line_of(entry("a"), entry("b")))
    report = bring(line_of(entry("a"), entry("c"), entry("b", vcs={"revision_id": "other"})))
    assert [(error.type, error.line) for error in report.errors] == [("DUPLICATE_ID", 3)]
    assert (report.entries, traces().count()) == (0, 2)


def test_a_large_file_goes_in_piece_by_piece():
    raw = line_of(*(entry(f"e-{n}", files=[{"relative_path": f"src/{n % 7}.py"}]) for n in range(1100)))
    assert bring(raw).entries == 1100
    assert TraceFile.objects.filter(imported=True).count() == 1100


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"", "INVALID_JSON"),
        (b'{"id":', "INVALID_JSON"),
        (b"\xff\n", "INVALID_UTF8"),
        (b"7", "NOT_AN_OBJECT"),
        (b"[7]", "NOT_AN_OBJECT"),
        (b'[{"id":"a","id":"b"}]', "INVALID_JSON"),
        (b"[" * 5000, "INVALID_JSON"),
        (b"{}", "INVALID_FIELD"),
    ],
)
def test_a_body_without_entries_is_an_error(raw, kind):
    report, made = post_entries(HOME, raw, "Max")
    assert not report.is_valid
    assert report.errors[0].type == kind
    assert made == []


def test_posted_entries_are_live_and_come_back_in_order():
    report, made = post_entries(
        HOME, json.dumps([entry("a", files=[{"relative_path": "x"}]), entry("b")]).encode(), "Max"
    )
    assert report.is_valid
    assert [one.entry_id for one in made] == ["a", "b"]
    assert not TraceFile.objects.get().imported
    assert post_entries(HOME, b"[]", "Max")[0].is_valid


def test_an_id_that_somebody_else_records_meanwhile_is_a_duplicate(monkeypatch):
    real = posting.store
    calls = []

    def lost_the_race(*args, **more):
        calls.append(1)
        if len(calls) == 1:
            real(*args, **more)
            raise IntegrityError
        return real(*args, **more)

    monkeypatch.setattr(posting, "store", lost_the_race)
    assert post_entries(HOME, line_of(entry("a")), "Max")[0].entries == 1
    assert traces().count() == 1
