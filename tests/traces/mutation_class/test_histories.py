"""Changes from public histories, whose class a person has read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from traces.mutation_class import REFACTOR, classify_change

DATA = Path(__file__).parents[2] / "data" / "class_of_change" / "pairs.jsonl"


@pytest.fixture(scope="module")
def verdicts():
    """(where, truth, verdict) of each pair."""
    pairs = [json.loads(line) for line in DATA.read_text().splitlines()]
    return [
        (f"{pair['repository']} {pair['commit']} {pair['path']}", pair["truth"],
         classify_change(pair["path"], pair["before"], pair["after"], seconds=20))
        for pair in pairs
    ]  # fmt: skip


def test_no_change_of_behaviour_is_called_a_refactoring(verdicts):
    assert [where for where, truth, verdict in verdicts if verdict == REFACTOR != truth] == []


def test_nine_of_ten_are_classified_as_a_person_reads_them(verdicts):
    wrong = [where for where, truth, verdict in verdicts if verdict != truth]
    assert len(verdicts) >= 100
    assert len(wrong) <= len(verdicts) / 10, wrong
