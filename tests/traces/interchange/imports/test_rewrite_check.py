"""A later version of a file: has it grown, or was its history rewritten?"""

from __future__ import annotations

import json

import pytest

from tests.traces.builders import HOME
from tests.traces.data import DATA
from tests.traces.interchange.samples import bring, lines
from traces.ledger.append import read_body
from traces.models import EntryKind, LedgerEntry
from traces.timeline.describe_entries import describe
from traces.verification.verify import verify

pytestmark = pytest.mark.django_db


HISTORIES = sorted(path.parent for path in (DATA / "history").glob("*/steps.json"))


def entry(entry_id, **more):
    return {"id": entry_id, "timestamp": "2026-02-21T12:00:00Z", "files": [], **more}


def changes(report):
    return report.rewrite and tuple(
        getattr(report.rewrite, sort).ids for sort in ("altered", "removed", "reordered", "inserted")
    )


@pytest.mark.parametrize("folder", HISTORIES, ids=lambda folder: folder.name)
def test_exactly_the_rewrites_of_real_histories_are_recognised(folder):
    steps = json.loads((folder / "steps.json").read_text(encoding="utf-8"))["steps"]
    kept = set()
    for step in steps:
        report = bring((folder / step["file"]).read_bytes())
        assert report.is_valid
        assert (report.rewrite is not None) is (step["step"] == "rewrite"), step["file"]
        stored = {bytes(row.body.body) for row in LedgerEntry.objects.filter(kind=EntryKind.TRACE)}
        assert kept <= stored
        kept = stored
        assert bring((folder / step["file"]).read_bytes()).rewrite is None
    assert verify(HOME).ok


def test_a_file_that_grows_is_no_rewrite():
    bring(lines(entry("a"), entry("b")))
    report = bring(lines(entry("a"), entry("b"), entry("c")))
    assert (report.rewrite, report.entries, report.duplicates) == (None, 1, 2)


@pytest.mark.parametrize(
    ("later", "told"),
    [
        ([entry("a"), entry("b", x=1), entry("c")], (["b"], [], [], [])),
        ([entry("a"), entry("c")], ([], ["b"], [], [])),
        ([entry("b"), entry("a"), entry("c")], ([], [], ["b"], [])),
        ([entry("a"), entry("new"), entry("b"), entry("c")], ([], [], [], ["new"])),
        ([], ([], ["a", "b", "c"], [], [])),
        ([entry("c"), entry("a", x=1)], (["a"], ["b"], ["c"], [])),
    ],
)
def test_what_was_altered_removed_or_moved_is_told_and_nothing_is_overwritten(later, told):
    bring(lines(entry("a"), entry("b"), entry("c")))
    report = bring(lines(*later))
    assert report.rewrite is not None
    assert changes(report) == told
    bodies = [read_body(row) for row in LedgerEntry.objects.filter(kind=EntryKind.TRACE).order_by("pk")]
    assert bodies[:3] == [entry("a"), entry("b"), entry("c")]
    originals = [body.get("original", body) for body in bodies]
    assert all(value in originals for value in later)
    record = LedgerEntry.objects.filter(kind=EntryKind.IMPORT).order_by("pk").last()
    assert read_body(record)["rewrite"]["altered"]["ids"] == told[0]
    assert "rewritten history" in describe(record).note


def test_an_altered_version_is_kept_once_and_grows_from_there():
    bring(lines(entry("a")))
    bring(lines(entry("a", x=1)))
    report = bring(lines(entry("a", x=1), entry("b")))
    assert (report.rewrite, report.entries, report.duplicates) == (None, 1, 1)
    assert LedgerEntry.objects.filter(kind=EntryKind.TRACE).count() == 3


def test_a_strict_import_refuses_an_altered_past_and_says_which():
    bring(lines(entry("a")), lenient=False)
    report = bring(lines(entry("a", x=1), entry("b")), lenient=False)
    assert not report.is_valid
    assert changes(report) == (["a"], [], [], [])
    assert LedgerEntry.objects.filter(kind=EntryKind.TRACE).count() == 1


def test_files_of_other_names_are_not_compared():
    bring(lines(entry("a")))
    assert bring(lines(entry("b")), source="other.jsonl").rewrite is None


def test_an_id_that_occurs_twice_in_one_file_is_no_rewrite():
    report = bring(lines(entry("a"), entry("a", x=1)))
    assert (report.rewrite, report.entries) == (None, 2)
    again = bring(lines(entry("a"), entry("a", x=1)))
    assert (again.rewrite, again.entries, again.duplicates) == (None, 0, 2)


def test_the_same_record_taken_to_the_letter_and_repaired_is_one_record():
    record = entry("a", files=[{"relative_path": "a", "conversations": [
        {"ranges": [], "related": [{"type": "intent", "value": "INT-1"}]}]}])  # fmt: skip
    bring(lines(record), lenient=False)
    report = bring(lines(record))
    assert (report.entries, report.duplicates, report.rewrite) == (0, 1, None)
