"""The registry file of document 5: its example, the eight validation rules, and the moves of an intent."""

from __future__ import annotations

import json

import pytest
import yaml

NAMES = {
    "INT-001": "Implement JWT authentication",
    "INT-002": "Set up Redis for session management",
    "INT-003": "Refactor user model for new auth system",
    "INT-004": "Add rate limiting middleware",
}


def intent(intent_id="INT-001", **fields):
    return {
        "id": intent_id, "name": f"Work {intent_id}", "description": "", "status": "DRAFT", "owner": "auth-team",
        "created_at": "2024-01-15T10:30:00Z", "updated_at": "2024-01-20T14:22:00Z",
        "owned_scope": [f"src/{intent_id.lower()}/**"], "constraints": ["Use bcrypt"],
        "acceptance_criteria": ["Refresh works"], "dependencies": [], "references": [], "blocked_reason": None,
    } | fields  # fmt: skip


def registry(*intents):
    return {"active_intents": list(intents), "metadata": {"version": "1.0", "schema_version": "1.0"}}


EXAMPLE = registry(
    intent(name=NAMES["INT-001"], status="IN_PROGRESS", dependencies=["INT-002"]),
    intent("INT-002", name=NAMES["INT-002"], status="DONE"),
    intent("INT-003", name=NAMES["INT-003"], dependencies=["INT-001", "INT-002"]),
    intent(
        "INT-004", name=NAMES["INT-004"], status="BLOCKED", blocked_reason="Waiting for Redis", dependencies=["INT-002"]
    ),
)  # fmt: skip


def errors(shop, *intents):
    return {error["type"] for error in shop.check(registry(*intents))["errors"]}


def warnings(shop, *intents):
    return {warning["type"] for warning in shop.check(registry(*intents))["warnings"]}


@pytest.mark.systems(16)
def test_seed5_file_1__a_whole_registry_is_imported_and_exported_without_loss(shop, rest):
    report = shop.load(EXAMPLE)
    assert (report["applied"], report["errors"]) == (True, [])
    text = shop.text("intents/export")
    written = yaml.safe_load(text)
    assert {one["id"]: one["name"] for one in written["active_intents"]} == NAMES
    assert written["metadata"]["schema_version"] == "1.0"
    assert shop.load(text)["applied"]
    assert shop.text("intents/export") == text
    assert rest.take("INT-001")["success"]
    refused = shop.agent().take("INT-004")
    assert "Waiting for Redis" in refused["error"]
    assert shop.agent().take("INT-003")["reason"] == "dependencies_unmet"


@pytest.mark.systems(16)
def test_seed5_file_1_lenient__what_was_repaired_on_import_is_exported_importable(shop):
    real = {"intents": [{"id": 7, "title": "Old work", "status": "active", "scope": ["src/"]}]}
    assert not shop.load(real)["applied"]
    assert shop.load(real, "mode=replace&lenient=true")["applied"]
    text = shop.text("intents/export")
    assert "Old work" in text
    assert shop.check(text)["errors"] == []
    assert shop.load(text)["applied"]


@pytest.mark.systems(17)
def test_seed5_rule_1__ids_have_a_form_and_occur_once(shop):
    for right in ("INT-001", "INT-042", "INT-999", "INT-1000"):
        assert errors(shop, intent(right)) == set()
    for wrong in ("int-1", "INT01", "INTENT-001", "INT-01", "INT-\u0660\u0660\u0661", ""):
        assert "INVALID_ID_FORMAT" in errors(shop, intent(wrong)), wrong
    assert "DUPLICATE_ID" in errors(shop, intent(), intent())


@pytest.mark.systems(17)
def test_seed5_rule_2__a_status_is_one_of_the_words_in_capitals(shop):
    for right in ("DRAFT", "IN_PROGRESS", "DONE", "BLOCKED"):
        assert errors(shop, intent(status=right)) == set()
    for wrong in ("draft", "In_Progress", "OPEN", "", None, 5):
        assert errors(shop, intent(status=wrong)) & {"INVALID_STATUS", "INVALID_FIELD"}, wrong


@pytest.mark.systems(18)
def test_seed5_rule_2_moves__a_status_moves_as_the_rules_say_and_done_is_final(shop):
    def move(intent_id, status):
        version = shop.admin("GET", f"intents/{intent_id}")[1]["version"]
        return shop.admin("PATCH", f"intents/{intent_id}", {"status": status, "version": version})[0]

    shop.intent("INT-002", owned_scope=["docs/**"])
    moves = ("COMPLETED", "IN_PROGRESS", "BLOCKED", "COMPLETED", "IN_PROGRESS", "COMPLETED", "IN_PROGRESS")
    assert [move("INT-002", status) for status in moves] == [409, 200, 200, 409, 200, 200, 409]


@pytest.mark.systems(17)
def test_seed5_rule_3__a_scope_has_valid_relative_patterns(shop):
    for right in (["src/auth/**"], ["*.ts"], ["tests/**/auth.spec.ts"], ["src/{a,b}/*.ts"]):
        assert errors(shop, intent(owned_scope=right)) == set(), right
    assert "EMPTY_SCOPE" in errors(shop, intent(owned_scope=[]))
    assert "INVALID_GLOB" in errors(shop, intent(owned_scope=["src/auth/[invalid"]))
    told = shop.check(registry(intent(owned_scope=["/absolute/paths"])))
    assert "ABSOLUTE_PATH" in {one["type"] for one in told["errors"] + told["warnings"]}


@pytest.mark.systems(17)
def test_seed5_rule_3_overlap__scopes_that_meet_are_told_with_a_path_that_both_own(shop):
    first = intent(status="IN_PROGRESS", owned_scope=["src/**/*.ts"])
    second = intent("INT-002", status="IN_PROGRESS", owned_scope=["src/auth/**"])
    (overlap,) = [
        one for one in shop.check(registry(first, second))["warnings"] if one["type"] == "SCOPE_OVERLAP"
    ]
    assert {overlap["intent_id"], overlap["other_intent_id"]} == {"INT-001", "INT-002"}
    assert overlap["path"].startswith("src/auth/")
    assert overlap["path"].endswith(".ts")
    assert "SCOPE_OVERLAP" not in warnings(shop, first, second | {"status": "DRAFT"})
    broken = registry(first, second, intent("INT-003", status="OPEN"))
    assert "SCOPE_OVERLAP" in {one["type"] for one in shop.check(broken)["warnings"]}


@pytest.mark.systems(17)
@pytest.mark.parametrize(
    ("field", "warning"),
    [("constraints", "MISSING_CONSTRAINTS"), ("acceptance_criteria", "MISSING_ACCEPTANCE_CRITERIA")],
)
def test_seed5_rule_4_5__constraints_and_criteria_are_recommended_not_enforced(shop, field, warning):
    assert errors(shop, intent(**{field: []})) == set()
    assert warning in warnings(shop, intent(**{field: []}))
    assert warning not in warnings(shop, intent())
    assert errors(shop, intent(**{field: "a text"})) == {"INVALID_FIELD"}


@pytest.mark.systems(17)
def test_seed5_rule_6__times_are_iso_8601_and_in_order(shop):
    assert "INVALID_TIMESTAMP_FORMAT" in errors(shop, intent(created_at="15.01.2024"))
    assert "INVALID_TIMESTAMP" in warnings(shop, intent(updated_at="2023-01-01T00:00:00Z"))
    assert not {"INVALID_TIMESTAMP", "INVALID_TIMESTAMP_FORMAT"} & warnings(shop, intent())


@pytest.mark.systems(17)
def test_seed5_rule_7__dependencies_exist_make_no_circle_and_are_ready(shop):
    assert "INVALID_DEPENDENCY" in errors(shop, intent(dependencies=["INT-404"]))
    later = (intent(dependencies=["INT-002"]), intent("INT-002"))
    assert errors(shop, *later) == set()  # an intent may depend on one that stands below it
    circle = [intent(f"INT-00{n}", dependencies=[f"INT-00{n % 3 + 1}"]) for n in (1, 2, 3)]
    (found,) = shop.check(registry(*circle))["errors"]
    assert found["type"] == "CIRCULAR_DEPENDENCY"
    assert all(f"INT-00{n}" in found["message"] for n in (1, 2, 3))
    for status in ("DRAFT", "BLOCKED"):
        waiting = (intent(status="IN_PROGRESS", dependencies=["INT-002"]), intent("INT-002", status=status))
        assert "DEPENDENCY_NOT_READY" in warnings(shop, *waiting)


@pytest.mark.systems(17)
def test_seed5_rule_8__the_file_is_yaml_with_a_list_in_utf_8(shop):
    (found,) = shop.check("active_intents:\n  - id: [\n")["errors"]
    assert (found["type"], found["line"]) == ("YAML_PARSE_ERROR", 3)
    for text in ("a: 1\n", "active_intents: 5\n", "- 1\n", ""):
        assert {one["type"] for one in shop.check(text)["errors"]} & {
            "MISSING_ACTIVE_INTENTS",
            "YAML_PARSE_ERROR",
        }, text
    many = [intent(f"INT-{n:04}") for n in range(1001)]
    assert "LARGE_FILE" in {one["type"] for one in shop.check(json.dumps(registry(*many)))["warnings"]}
    assert "LARGE_FILE" not in warnings(shop, *many[:1000])


@pytest.mark.systems(17)
def test_seed5_rule_all__a_file_with_an_error_changes_nothing_and_names_intent_and_field(shop):
    before = shop.text("intents/export")
    report = shop.load(registry(intent("INT-002"), intent("INT-003", status="OPEN", owned_scope=[])))
    assert not report.get("applied")
    assert {(one["type"], one["intent_id"], one["field"]) for one in report["errors"]} == {
        ("INVALID_STATUS", "INT-003", "status"), ("EMPTY_SCOPE", "INT-003", "owned_scope"),
    }  # fmt: skip
    assert shop.text("intents/export") == before


CONSTRAINTS = {
    "library_version": {
        "type": "library_version", "library": "bcrypt", "min_version": "5.0.0",
        "validation": "Check package.json dependencies",
    },
    "file_size": {
        "type": "file_size", "max_lines": 500, "scope": "src/**/*.ts",
        "validation": "Check line count of modified files",
    },
    "code_pattern": {
        "type": "code_pattern", "pattern": "No console.log in production code",
        "validation": "Scan for console.log outside test files",
    },
}  # fmt: skip


CASES = {  # type -> a file, a text that keeps to the constraint, one that does not
    "library_version": (
        "package.json",
        '{"dependencies": {"bcrypt": "^5.1.0"}}',
        '{"dependencies": {"bcrypt": "^4.0.0"}}',
    ),
    "file_size": ("src/a.ts", "x\n" * 500, "x\n" * 501),
}


@pytest.mark.systems(32)
@pytest.mark.parametrize("kind", CASES)
def test_seed5_question_5__the_documents_constraints_are_checked(shop, rest, kind):
    path, good, bad = CASES[kind]
    shop.change(owned_scope=["src/**", "package.json"], constraints=[CONSTRAINTS[kind]])
    rest.take()
    assert rest.write(path, good).ran
    answer = rest.write(path, bad)
    assert (answer.body["error_type"], answer.body["action_hint"]) == (
        "CONSTRAINT_VIOLATION",
        "revise_change",
    )
    assert path in answer.body["error"]


@pytest.mark.systems(32)
def test_seed5_question_5_prose__a_constraint_that_is_a_sentence_is_told_to_the_agent_and_warned_of(
    shop, either
):
    told = warnings(shop, intent(constraints=[CONSTRAINTS["code_pattern"]]))
    assert "UNKNOWN_CONSTRAINT_TYPE" in told
    shop.change(constraints=[CONSTRAINTS["code_pattern"]])
    either.take()
    assert "No console.log in production code" in either.prompt()
    assert either.write("src/auth/a.ts", "console.log(1)\n").ran
    version = shop.admin("GET", "intents/INT-001")[1]["version"]
    wrong = {"constraints": [{"type": "max_file_lines", "value": 400}], "version": version}
    status, answer = shop.admin("PATCH", "intents/INT-001", wrong)
    assert status == 400, answer
