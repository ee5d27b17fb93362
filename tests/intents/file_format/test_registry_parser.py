"""Each file of the bad-input set gets the answer that its index expects."""

from __future__ import annotations

import json

import pytest

from intents.file_format.registry_parser import parse_registry
from intents.file_format.yaml_writer import write_registry
from tests.intents.builders import DATA
from tests.workload import bounded

FOLDER = DATA / "bad_input"
CASES = json.loads((FOLDER / "index.json").read_text())


def matches(problem, wanted):
    line = wanted.get("line")
    return (
        problem.type in wanted.get("types_in", [wanted["type"]])
        and wanted.get("intent_id") in (None, problem.intent_id)
        and (line is None or abs((problem.line or 0) - line) <= wanted.get("line_tolerance", 0))
    )


def test_every_file_of_the_set_is_tested():
    assert {case["file"] for case in CASES} == {path.name for path in FOLDER.glob("*.yaml")}
    assert len(CASES) == 22


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["file"])
def test_the_report_is_the_one_that_is_expected(case):
    with bounded(100 * case.get("max_seconds", 1)):
        reading = parse_registry((FOLDER / case["file"]).read_bytes())

    assert reading.report.valid is (case["outcome"] == "accepted")
    assert (reading.values is not None) is reading.report.valid
    for wanted in case.get("errors", []):
        found = [problem for problem in reading.report.errors if matches(problem, wanted)]
        assert len(found) >= wanted.get("count", 1), (wanted, reading.report.errors)
    assert sorted(problem.type for problem in reading.report.warnings) == sorted(case["warnings"])


@pytest.mark.parametrize("case", [case for case in CASES if "values" in case], ids=lambda case: case["file"])
def test_the_values_are_the_text_that_was_written(case):
    reading = parse_registry((FOLDER / case["file"]).read_bytes())
    stored = {values.intent_id: values for values in reading.values.intents}
    for place, wanted in case["values"].items():
        intent_id, field = place.split(".")
        value = getattr(stored[intent_id], field)
        assert (list(value) if isinstance(value, tuple) else value) == wanted


def test_an_overlap_comes_with_a_path_that_both_own():
    case = next(case for case in CASES if "overlap_witness" in case)
    reading = parse_registry((FOLDER / case["file"]).read_bytes())
    overlaps = [problem for problem in reading.report.warnings if problem.type == "SCOPE_OVERLAP"]
    found = {f"{problem.intent_id},{problem.other_intent_id}": problem.path for problem in overlaps}
    assert found == case["overlap_witness"]
    assert overlaps[0].path in overlaps[0].message


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.get("roundtrip")], ids=lambda case: case["file"]
)
def test_an_export_gives_every_field_back(case):
    values = parse_registry((FOLDER / case["file"]).read_bytes()).values
    again = parse_registry(write_registry(values).encode()).values
    assert again == values
    assert values.intents[0].extra == {"priority": "high", "x-team": {"lead": "ada"}}
    assert values.metadata == {"version": "1"}


def test_doubtful_relations_are_reported_beside_errors():
    data = b"""
active_intents:
- {id: INT-001, status: IN_PROGRESS, owned_scope: ["src/**"], created_at: yesterday, dependencies: [INT-404]}
- {id: INT-002, status: IN_PROGRESS, owned_scope: ["src/a"], dependencies: [INT-003], owner: [x]}
- {id: INT-003, status: PENDING, owned_scope: ["lib/"]}
- {id: INT-004, status: WIP, owned_scope: ["src/**"], dependencies: [INT-003]}
"""
    report = parse_registry(data).report
    relations = [
        (problem.type, problem.intent_id, problem.other_intent_id)
        for problem in report.warnings
        if problem.type in {"SCOPE_OVERLAP", "DEPENDENCY_NOT_READY"}
    ]
    assert relations == [
        ("DEPENDENCY_NOT_READY", "INT-002", None),
        ("SCOPE_OVERLAP", "INT-001", "INT-002"),
    ]
    assert {problem.type for problem in report.errors} == {
        "INVALID_TIMESTAMP_FORMAT",
        "INVALID_FIELD",
        "INVALID_GLOB",
        "INVALID_STATUS",
        "INVALID_DEPENDENCY",
    }


ONE = "- id: INT-{0}\n  name: Some\n  status: PENDING\n  owned_scope:\n  - src/{0}/**\n"


@pytest.mark.parametrize(
    "document",
    [
        "active_intents:\n" + "".join(ONE.format(number) for number in range(20_000)),
        "active_intents: [" + ", ".join(f"{{id: INT-{number}, name: x}}" for number in range(20_000)) + "]",
        json.dumps({"active_intents": [{"id": f"INT-{number}", "name": "x"} for number in range(20_000)]}),
    ],
    ids=["block", "flow", "json"],
)
def test_twenty_thousand_intents_are_refused_before_a_tree_is_built(document):
    with bounded(5):  # building the tree takes some hundred
        parsed = parse_registry(document.encode())
    assert [error.message for error in parsed.report.errors] == [
        "The file holds more than 5,000 intents. Split it."
    ]
