"""The tool of `make chaos` finds what it looks for, and the manual holds its table."""

from __future__ import annotations

import pytest

from tests.chaos.evidence import compare
from tests.chaos.faults import FAULTS
from tests.chaos.load import SERVED, describe
from tests.chaos.table import MANUAL, Row, read_rows, update

TOLD = {"1-1": ("d1", "allow"), "1-2": ("d2", "ask")}
RECORDED = [("1-1", "d1", "allow"), ("1-2", "d2", "ask")]


def test_a_ledger_that_has_what_callers_were_told_holds():
    more = [*RECORDED, ("1-3", "d3", "allow")]  # recorded, and its answer did not arrive
    assert compare(TOLD, more).holds


@pytest.mark.parametrize(
    ("recorded", "lost", "twice"),
    [
        (RECORDED[1:], ["1-1"], []),
        ([("1-1", "d1", "deny"), RECORDED[1]], ["1-1"], []),
        ([("1-1", "d9", "allow"), RECORDED[1]], ["1-1"], []),
        ([*RECORDED, ("1-1", "d4", "allow")], [], ["1-1"]),
    ],
    ids=["not recorded", "as another decision", "under another id", "recorded twice"],
)
def test_what_does_not_hold_is_named(recorded, lost, twice):
    comparison = compare(TOLD, recorded)
    assert (comparison.lost, comparison.twice) == (lost, twice)
    assert not comparison.holds


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ((0, None), "no answer"),
        ((200, {"decision": "allow", "error_type": None}), SERVED),
        ((200, {"decision": "deny", "error_type": "internal_error"}), "recorded refusal"),
        ((503, {"decision": "deny"}), "503 deny"),
        ((502, b"<html>"), "502"),
    ],
)
def test_answers_have_names(answer, name):
    assert describe(answer) == name


def test_the_manual_has_a_row_for_each_fault_and_none_lost_anything():
    rows = read_rows(MANUAL.read_text(encoding="utf-8"))
    assert list(rows) == [(fault.database, fault.name) for fault in FAULTS]
    for fault, line in zip(FAULTS, rows.values(), strict=True):
        _, _, _, how, _, acknowledged, lost, twice, _ = (cell.strip() for cell in line.split("|"))
        assert how == fault.how
        assert int(acknowledged.replace(",", "")) > 0
        assert (lost, twice) == ("0", "0")


def test_a_run_replaces_its_own_rows_only():
    text = MANUAL.read_text(encoding="utf-8")
    row = Row(FAULTS[0], ("no answer",), 12_345, 0, 0)
    updated = update(text, [row])
    before, after = read_rows(text), read_rows(updated)
    assert after.pop((row.fault.database, row.fault.name)) == row.render()
    before.pop((row.fault.database, row.fault.name))
    assert after == before
    assert update(text, []) == text
