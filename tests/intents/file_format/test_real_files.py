"""Registry files of real repositories: imported, or refused with a reason and a line."""

from __future__ import annotations

import json

import pytest

from intents.file_format.registry_parser import parse_registry
from intents.file_format.yaml_writer import write_registry
from tests.intents.builders import DATA

FOLDER = DATA / "real_orchestration"
FILES = sorted(FOLDER.glob("*/*active_intents*.yaml"))

# An intent that depends on two that the file does not have, at line 31.
REFUSED = {"20/active_intents.yaml": ("INVALID_DEPENDENCY", 31)}
# A form feed as the first byte: the plain parser that counted for facts.json gave up on it.
WITHOUT_FACTS = {"32/active_intents.yaml": 2}


def name_of(path):
    return f"{path.parent.name}/{path.name}"


def facts_of(path):
    return json.loads((path.parent / "facts.json").read_text())[path.name]


def test_all_files_are_there():
    assert len(FILES) == 35
    assert sum(len(facts_of(path).get("intents", [])) for path in FILES) == 84


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_lenient_import_takes_every_intent_or_says_why_not(path):
    reading = parse_registry(path.read_bytes(), lenient=True)
    if name_of(path) in REFUSED:
        kind, line = REFUSED[name_of(path)]
        assert {(problem.type, problem.line) for problem in reading.report.errors} == {(kind, line)}
        return
    assert reading.report.valid, reading.report.errors
    facts = facts_of(path)
    wanted = WITHOUT_FACTS.get(name_of(path)) or len(facts["intents"])
    assert len(reading.values.intents) == wanted
    for fact, values in zip(facts.get("intents", []), reading.values.intents, strict=False):
        assert values.intent_id == fact["id"]
        assert (values.raw_status or values.status) == (fact["status"] or "PENDING")
        known = set(values.to_document()) | {"title", "id"}
        assert set(fact["keys"]) - known <= {"description", "owned_scope", "dependencies"}


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_strict_import_refuses_with_a_reason_and_a_line(path):
    report = parse_registry(path.read_bytes()).report
    assert all(problem.line for problem in report.errors if problem.type != "MISSING_ACTIVE_INTENTS")
    assert all(problem.message for problem in report.errors)


@pytest.mark.parametrize("path", [path for path in FILES if name_of(path) not in REFUSED], ids=name_of)
def test_import_export_import_changes_nothing(path):
    first = parse_registry(path.read_bytes(), lenient=True).values
    text = write_registry(first)
    for lenient in (False, True):
        parsed = parse_registry(text.encode(), lenient=lenient)
        assert parsed.report.errors == ()
        assert parsed.values == first
        assert write_registry(parsed.values) == text


def test_each_repair_is_listed():
    repairs = {"KEY_ALIAS", "STATUS_ALIAS", "ID_FORMAT", "SCOPE_ALIAS", "CONTROL_CHARACTER", "EMPTY_SCOPE"}
    found = set()
    for path in FILES:
        strict = parse_registry(path.read_bytes()).report
        lenient = parse_registry(path.read_bytes(), lenient=True).report
        made = {problem.type for problem in lenient.warnings} & repairs
        found |= made
        assert made or strict.errors == () or lenient.errors, path
    assert found == repairs
