"""Versions of one file that follow each other, and hash chains that other tools wrote."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path

import pytest

from tests.traces.builders import HOME
from traces.interchange.formats.foreign_chain import ForeignChain, describe_chain
from traces.interchange.imports.import_file import TraceImportOptions, import_file
from traces.ledger.append import body_of
from traces.ledger.verify import verify
from traces.models import Kind, LedgerEntry
from traces.timeline.describe_entries import describe

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parent.parent / "data" / "traces"
HISTORIES = sorted(path.parent for path in (DATA / "history").glob("*/steps.json"))
CHAINED = (DATA / "real" / "08-agent_trace.jsonl").read_bytes()


def entry(entry_id, **more):
    return {"id": entry_id, "timestamp": "2026-02-21T12:00:00Z", "files": [], **more}


def lines(*values):
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def bring(raw, **how):
    return import_file(
        io.BytesIO(raw).read, TraceImportOptions(HOME, "token:1:Ada", **{"lenient": True, **how})
    )


def changes(report):
    return report.rewrite and tuple(
        getattr(report.rewrite, sort).ids for sort in ("altered", "removed", "reordered")
    )


@pytest.mark.parametrize("folder", HISTORIES, ids=lambda folder: folder.name)
def test_exactly_the_rewrites_of_real_histories_are_recognised(folder):
    steps = json.loads((folder / "steps.json").read_text(encoding="utf-8"))["steps"]
    kept = set()
    for step in steps:
        report = bring((folder / step["file"]).read_bytes())
        assert report.is_valid
        assert (report.rewrite is not None) is (step["step"] == "rewrite"), step["file"]
        stored = {bytes(row.body.body) for row in LedgerEntry.objects.filter(kind=Kind.TRACE)}
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
        ([entry("a"), entry("b", x=1), entry("c")], (["b"], [], [])),
        ([entry("a"), entry("c")], ([], ["b"], [])),
        ([entry("b"), entry("a"), entry("c")], ([], [], ["b"])),
        ([entry("a"), entry("new"), entry("b"), entry("c")], ([], [], [])),
        ([], ([], ["a", "b", "c"], [])),
        ([entry("c"), entry("a", x=1)], (["a"], ["b"], ["c"])),
    ],
)
def test_what_was_altered_removed_or_moved_is_told_and_nothing_is_overwritten(later, told):
    bring(lines(entry("a"), entry("b"), entry("c")))
    report = bring(lines(*later))
    assert report.rewrite is not None
    assert sorted(map(sorted, changes(report))) == sorted(map(sorted, told)) or changes(report) == told
    bodies = [body_of(row) for row in LedgerEntry.objects.filter(kind=Kind.TRACE).order_by("pk")]
    assert bodies[:3] == [entry("a"), entry("b"), entry("c")]
    originals = [body.get("original", body) for body in bodies]
    assert all(value in originals for value in later)
    record = LedgerEntry.objects.filter(kind=Kind.IMPORT).order_by("pk").last()
    assert body_of(record)["rewrite"]["altered"]["ids"] == told[0]
    assert "rewritten history" in describe(record).note


def test_an_altered_version_is_kept_once_and_grows_from_there():
    bring(lines(entry("a")))
    bring(lines(entry("a", x=1)))
    report = bring(lines(entry("a", x=1), entry("b")))
    assert (report.rewrite, report.entries, report.duplicates) == (None, 1, 1)
    assert LedgerEntry.objects.filter(kind=Kind.TRACE).count() == 3


def test_a_strict_import_refuses_an_altered_past_and_says_which():
    bring(lines(entry("a")), lenient=False)
    report = bring(lines(entry("a", x=1), entry("b")), lenient=False)
    assert not report.is_valid
    assert changes(report) == (["a"], [], [])
    assert LedgerEntry.objects.filter(kind=Kind.TRACE).count() == 1


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


def test_the_chain_of_a_real_workspace_verifies_by_the_rule_that_was_found():
    report = bring(CHAINED)
    assert (report.foreign_chain["links"], report.foreign_chain["verified"]) == (18, 18)
    assert report.foreign_chain["rule"] == "SHA-256 of the record with the hash before it, compact JSON"
    assert "FOREIGN_CHAIN_BROKEN" not in [one.type for one in report.warnings]
    record = LedgerEntry.objects.get(kind=Kind.IMPORT)
    assert body_of(record)["foreign_chain"] == report.foreign_chain
    assert "foreign chain: 18 of 18 links verify" in describe(record).note
    assert all(
        "integrity" in body_of(row).get("original", body_of(row))
        for row in LedgerEntry.objects.filter(kind=Kind.TRACE)
    )


@pytest.mark.parametrize(
    ("harm", "verified", "line"),
    [
        (lambda rows: rows[4].update(timestamp="2026-02-21T01:00:00Z"), 17, 5),
        (lambda rows: rows[0].update(timestamp="2026-02-21T01:00:00Z"), 17, 1),
        (lambda rows: rows.pop(6), 16, 7),
        (lambda rows: rows.insert(2, rows.pop(9)), 15, 3),
    ],
)
def test_a_harmed_chain_names_its_first_break(harm, verified, line):
    rows = [json.loads(row) for row in CHAINED.split(b"\n") if row]
    harm(rows)
    report = bring(lines(*rows))
    assert (report.foreign_chain["verified"], report.foreign_chain["first_break"]) == (verified, line)
    assert [(one.type, one.line) for one in report.warnings if one.type != "REPAIRED"] == [
        ("FOREIGN_CHAIN_BROKEN", line)
    ]


def chained(count, write):
    before, rows = "", []
    for number in range(count):
        record = {"id": f"e-{number}", "a": number, "prev_hash": before}
        record["hash"] = before = hashlib.sha256(write(record).encode()).hexdigest()
        rows.append(record)
    return rows


@pytest.mark.parametrize(
    ("write", "rule"),
    [
        (json.dumps, "SHA-256 of the record with the hash before it, spaced JSON"),
        (
            lambda record: json.dumps(record, sort_keys=True, separators=(",", ":")),
            "SHA-256 of the record with the hash before it, compact JSON, sorted",
        ),
        (
            lambda record: record["prev_hash"] + json.dumps({"id": record["id"], "a": record["a"]}),
            "SHA-256 of the hash before it, then the record, spaced JSON",
        ),
        (lambda record: f"secret {record['a']}", ""),
    ],
)
def test_other_rules_are_found_and_without_one_the_links_are_compared(write, rule):
    chain = ForeignChain()
    for line, record in enumerate(chained(5, write), 1):
        chain.add(record, line)
    summary = chain.summary()
    assert (summary["links"], summary["verified"], summary["rule"]) == (5, 5, rule)
    assert ("the hashing rule is unknown" in describe_chain(summary)) is (rule == "")


@pytest.mark.parametrize(
    "record",
    [{"id": "a"}, {"integrity": 7}, {"integrity": {"prev_hash": 7, "hash": "a"}}, {"prev_hash": None}, {"chain": {}}],
)  # fmt: skip
def test_a_file_without_a_chain_has_none(record):
    chain = ForeignChain()
    chain.add(record, 1)
    assert chain.summary() is None
