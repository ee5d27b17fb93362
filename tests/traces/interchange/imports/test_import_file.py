"""Importing a file: strictly or with repairs, everything valid or nothing."""

from __future__ import annotations

import json

import pytest

from tests.traces.builders import HOME
from tests.traces.data import DATA
from tests.traces.interchange.imports.samples import bring, entry, line_of, traces, types
from traces.interchange.post_entries import post_entries
from traces.ledger.append import read_body
from traces.models import EntryKind, LedgerEntry, TraceFile
from traces.verification.verify import verify

pytestmark = pytest.mark.django_db


BAD = json.loads((DATA / "bad_input" / "index.json").read_text(encoding="utf-8"))


REAL = json.loads((DATA / "real" / "facts.json").read_text(encoding="utf-8"))


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
        body = read_body(stored)
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


def test_a_dry_run_says_the_same_and_changes_nothing():
    raw = line_of(entry("a"), entry("b"), entry("a"))
    planned = bring(raw, dry_run=True)
    assert not LedgerEntry.objects.exists()
    done = bring(raw)
    assert planned.to_dict() == done.to_dict()
    assert (done.entries, done.duplicates) == (2, 1)


def test_an_import_is_itself_an_entry_and_sealed_at_once():
    bring(line_of(entry("a")))
    record = LedgerEntry.objects.get(kind=EntryKind.IMPORT)
    assert read_body(record)["entries"] == 1
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
