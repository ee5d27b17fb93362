"""Hash chains of other tools, verified by the rule that their records show."""

from __future__ import annotations

import hashlib
import json

import pytest

from tests.traces.data import DATA
from tests.traces.interchange.samples import bring, lines
from traces.interchange.formats.foreign_chain import ForeignChain, describe_chain
from traces.ledger.append import read_body
from traces.models import EntryKind, LedgerEntry
from traces.timeline.describe_entries import describe

pytestmark = pytest.mark.django_db


CHAINED = (DATA / "real" / "08-agent_trace.jsonl").read_bytes()


def test_the_chain_of_a_real_workspace_verifies_by_the_rule_that_was_found():
    report = bring(CHAINED)
    assert (report.foreign_chain["links"], report.foreign_chain["verified"]) == (18, 18)
    assert report.foreign_chain["rule"] == "SHA-256 of the record with the hash before it, compact JSON"
    assert "FOREIGN_CHAIN_BROKEN" not in [one.type for one in report.warnings]
    record = LedgerEntry.objects.get(kind=EntryKind.IMPORT)
    assert read_body(record)["foreign_chain"] == report.foreign_chain
    assert "foreign chain: 18 of 18 links verify" in describe(record).note
    assert all(
        "integrity" in read_body(row).get("original", read_body(row))
        for row in LedgerEntry.objects.filter(kind=EntryKind.TRACE)
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
