"""REST for intents, `active_intents.yaml` and `.intentignore`."""

from __future__ import annotations

import json

import pytest

from controlplane.api.raw_body import YAML_TYPES
from intents.models import Intent, IntentRevision
from tests import builders
from tests.intents.builders import DATA, file_of, intent

NEW = {"id": "INT-001", "name": "Auth", "owned_scope": ["src/auth/**"]}


def send(speaker, data, content_type="application/yaml", path="intents/import"):
    return speaker.post(path, data, content_type=content_type)


def test_an_admin_registers_an_intent(admin, acme):
    answer = admin.post("intents", {**NEW, "extra": {"priority": "high"}, "reason": "Planned on Monday"})
    assert answer.status_code == 201
    assert answer.headers["ETag"] == '"1"'
    body = answer.json()
    assert (body["status"], body["version"], body["extra"]) == ("PENDING", 1, {"priority": "high"})
    assert IntentRevision.objects.get().reason == "Planned on Monday"


@pytest.mark.parametrize(
    ("change", "error_type"),
    [
        ({"id": "INT-1"}, "INVALID_ID_FORMAT"),
        ({"id": "INT-001\n"}, "INVALID_ID_FORMAT"),
        ({"status": "WIP"}, "INVALID_STATUS"),
        ({"owned_scope": []}, "EMPTY_SCOPE"),
        ({"owned_scope": ["src/"]}, "INVALID_GLOB"),
        ({"owned_scope": ["/etc/**"]}, "ABSOLUTE_PATH"),
        ({"constraints": [{"type": "max_file_lines", "value": 400}]}, "INVALID_FIELD"),
        ({"created_at": "yesterday"}, "INVALID_TIMESTAMP_FORMAT"),
        ({"dependencies": ["INT-404"]}, "INVALID_DEPENDENCY"),
        ({"dependencies": ["INT-001"]}, "CIRCULAR_DEPENDENCY"),
        ({"constraints": [{"max": 3}]}, "INVALID_FIELD"),
        ({"name": 5}, "INVALID_INPUT"),
        ({"owned_scope": "src/**"}, "INVALID_INPUT"),
        ({"owned_scop": ["src/**"]}, "INVALID_FIELD"),
    ],
    ids=lambda value: str(value).replace("\n", "\\n"),
)
def test_what_is_not_valid_is_refused_by_name(admin, acme, change, error_type):
    answer = admin.post("intents", {**NEW, **change})
    assert (answer.status_code, answer.json()["error_type"]) == (400, error_type)
    assert not Intent.objects.exists()


def test_a_saved_intent_warns_of_constraints_that_the_gate_does_not_check(admin, acme):
    rules = ["Be fast", {"type": "TECHNICAL", "rule": "x"}, {"type": "no_new_dependency"}]
    created = admin.post("intents", {**NEW, "constraints": rules})
    (warning,) = created.json()["warnings"]
    assert (created.status_code, warning["type"], warning["field"]) == (
        201,
        "UNKNOWN_CONSTRAINT_TYPE",
        "constraints",
    )
    changed = admin.patch("intents/INT-001", {**created.json(), "constraints": rules[:1]})
    assert changed.status_code == 200
    assert "warnings" not in changed.json()
    refused = admin.patch("intents/INT-001", {"constraints": [{"type": "file_size"}], "version": 2})
    assert (refused.status_code, refused.json()["error_type"]) == (400, "INVALID_FIELD")
    assert "`max_lines`" in refused.json()["errors"][0]["message"]


@pytest.mark.parametrize("path", ["intents/validate", "intents/import", "intents/import?lenient=true"])
def test_a_file_with_a_constraint_that_cannot_be_checked_is_refused(admin, acme, path):
    row = intent("INT-001", constraints=[{"type": "max_file_lines", "value": 400}])
    (error,) = send(admin, file_of(row), path=path).json()["errors"]
    assert (error["type"], error["field"]) == ("INVALID_FIELD", "constraints")
    assert "`max_lines`" in error["message"]
    assert not Intent.objects.exists()


def test_an_id_is_taken_once(admin, acme):
    admin.post("intents", NEW)
    answer = admin.post("intents", NEW)
    assert (answer.status_code, answer.json()["error_type"]) == (409, "DUPLICATE_ID")


@pytest.mark.parametrize("body", [[], "x", None, 5], ids=repr)
def test_a_body_that_is_no_object_is_refused(admin, acme, body):
    answer = admin.post("intents", json.dumps(body))
    assert answer.status_code == 400


def test_a_change_says_which_version_it_saw(admin, acme):
    admin.post("intents", NEW)
    assert admin.patch("intents/INT-001", {"owner": "ada"}).json()["error_type"] == "VERSION_REQUIRED"
    answer = admin.patch("intents/INT-001", {"owner": "ada"}, {"If-Match": '"1"'})
    assert (answer.status_code, answer.headers["ETag"], answer.json()["owner"]) == (200, '"2"', "ada")
    stale = admin.patch("intents/INT-001", {"owner": "rex", "version": 1})
    assert (stale.status_code, stale.json()["error_type"], stale.json()["version"]) == (
        412,
        "VERSION_CONFLICT",
        2,
    )
    assert admin.patch("intents/INT-001", {"owner": "rex"}, {"If-Match": "*"}).status_code == 200
    assert admin.patch("intents/INT-001", {"owner": "ivy"}, {"If-Match": "later"}).status_code == 412


def test_what_was_read_can_be_sent_back(admin, acme):
    admin.post("intents", NEW)
    whole = admin.get("intents/INT-001").json()
    answer = admin.patch("intents/INT-001", {**whole, "description": "Tokens for all"})
    assert answer.status_code == 200
    assert answer.json() == {
        **whole,
        "description": "Tokens for all",
        "version": 2,
        "updated_at": answer.json()["updated_at"],
    }


def test_moves_are_held(admin, acme):
    admin.post("intents", NEW)
    answer = admin.patch("intents/INT-001", {"status": "COMPLETED", "version": 1})
    assert (answer.status_code, answer.json()["error_type"]) == (409, "STATUS_MOVE_REFUSED")
    answer = admin.patch("intents/INT-001", {"status": "BLOCKED", "blocked_reason": "Redis", "version": 1})
    assert (answer.json()["status"], answer.json()["blocked_reason"]) == ("BLOCKED", "Redis")


@pytest.mark.parametrize("role", ["agent", "reviewer"])
def test_agents_and_reviewers_read_and_do_not_write(request, acme, role):
    speaker = request.getfixturevalue(role)
    builders.intent(acme)
    assert [row["id"] for row in speaker.get("intents").json()["results"]] == ["INT-001"]
    assert speaker.get("intents/INT-001").status_code == 200
    assert speaker.post("intents", NEW).status_code == 403
    assert speaker.patch("intents/INT-001", {"owner": "x", "version": 1}).status_code == 403
    assert send(speaker, file_of(intent())).status_code == 403
    assert speaker.put("intentignore", b"x").status_code == 403
    assert speaker.patch("policy", {"enforcement": "off"}).status_code == 403


def test_a_list_can_be_narrowed_and_paged(agent, acme):
    for number in range(1, 4):
        builders.intent(acme, f"INT-00{number}", status="BLOCKED" if number == 2 else "PENDING")
    assert [row["id"] for row in agent.get("intents", status="BLOCKED").json()["results"]] == ["INT-002"]
    first = agent.get("intents", limit=2).json()
    rest = agent.get("intents", limit=2, cursor=first["next"]).json()
    assert [row["id"] for row in first["results"] + rest["results"]] == ["INT-003", "INT-002", "INT-001"]
    assert rest["next"] is None
    assert agent.get("intents", status="WIP").status_code == 400


def test_an_id_of_any_form_has_an_address(admin, agent, acme):
    data = b"active_intents: [{id: team/a b, name: A, status: PENDING, owned_scope: [a]}]"
    assert send(admin, data, path="intents/import?lenient=true").status_code == 200
    assert agent.get("intents/team/a%20b").json()["id"] == "team/a b"


def test_a_stranger_sees_nothing(acme):
    builders.intent(acme)
    max_ = builders.speaker(builders.workspace("elsewhere"), "admin")
    assert max_.get("intents").json()["results"] == []
    assert max_.get("intents/INT-001").status_code == 404
    assert max_.patch("intents/INT-001", {"owner": "max", "version": 1}).status_code == 404
    assert "INT-001" not in max_.get("intents/export").content.decode()


def test_validation_reports_and_changes_nothing(agent, acme):
    data = (DATA / "bad_input" / "y19-dependencies.yaml").read_bytes()
    answer = send(agent, data, path="intents/validate")
    assert answer.status_code == 200
    assert answer.json()["valid"] is False
    assert {
        "type": "INVALID_DEPENDENCY",
        "intent_id": "INT-001",
        "field": "dependencies",
        "line": 8,
    }.items() <= answer.json()["errors"][0].items()
    assert not Intent.objects.exists()


@pytest.mark.parametrize("ignore_case", [False, True])
def test_overlaps_are_warned_of_as_the_workspace_compares(admin, acme, ignore_case):
    builders.intent(acme, "INT-002", status="IN_PROGRESS", owned_scope=["SRC/INT-001/a"])
    policy = {"case_insensitive_paths": not ignore_case}
    for keys in (policy, {"case_insensitive_paths": ignore_case}):
        assert admin.patch("policy", keys).status_code == 200
    both = file_of(intent(), intent("INT-003", owned_scope=["Src/**", "!src/INT-002/**"]))
    for path, data in (
        ("intents/validate", both),
        ("intents/import?dry_run=true&mode=merge", file_of(intent())),
    ):
        kinds = {warning["type"] for warning in send(admin, data, path=path).json()["warnings"]}
        assert ("SCOPE_OVERLAP" in kinds) is ignore_case


@pytest.mark.parametrize("content_type", YAML_TYPES)
def test_a_file_comes_as_any_of_these_types(admin, acme, content_type):
    answer = send(admin, json.dumps({"active_intents": [intent()]}), f"{content_type}; charset=utf-8")
    assert answer.status_code == 200, answer.content
    assert answer.json()["plan"]["added"] == ["INT-001"]
    assert answer.json()["applied"] is True


def test_another_type_is_refused(admin, acme):
    assert send(admin, file_of(intent()), "application/x-www-form-urlencoded").status_code == 415


def test_an_invalid_import_is_refused_with_its_report(admin, acme):
    answer = send(admin, b"active_intents:\n- id: INT-001\n\tname: A\n")
    assert answer.status_code == 400
    body = answer.json()
    assert (body["status"], body["error_type"], body["valid"], body["applied"]) == (
        "error",
        "YAML_PARSE_ERROR",
        False,
        False,
    )
    assert body["errors"][0]["line"] == 3
    assert body["error"].startswith("Line 3: ")


def test_a_dry_run_plans_only(admin, acme):
    answer = send(admin, file_of(intent()), path="intents/import?dry_run=true")
    assert (answer.json()["dry_run"], answer.json()["applied"]) == (True, False)
    assert answer.json()["plan"]["added"] == ["INT-001"]
    assert not Intent.objects.exists()


def test_import_and_export_change_nothing(admin, agent, acme):
    send(admin, file_of(intent(priority="high"), metadata={"version": "1.0"}))
    first = agent.get("intents/export")
    assert first.headers["Content-Type"] == "application/yaml; charset=utf-8"
    again = send(admin, first.content, path="intents/import?mode=replace")
    assert again.json()["plan"]["unchanged"] == ["INT-001"]
    assert agent.get("intents/export", headers={"Accept": "text/html"}).content == first.content


@pytest.mark.parametrize("query", ["mode=swap", "dry_run=maybe", "lenient=2"])
def test_an_unknown_query_value_is_refused(admin, acme, query):
    assert send(admin, file_of(intent()), path=f"intents/import?{query}").status_code == 400


def test_the_ignore_file_comes_back_byte_for_byte(admin, agent, acme):
    text = "# secrets\r\n*.pem \\ \nintent: INT-009\nüber/\n".encode()
    builders.intent(acme, "INT-009")
    answer = admin.put("intentignore", text)
    assert answer.json() == {"saved": True, "warnings": []}
    assert agent.get("intentignore").content == text
    acme.refresh_from_db()
    assert acme.revision > 1


def test_lines_that_mean_something_else_elsewhere_are_told(admin, acme):
    builders.intent(acme)
    answer = admin.put("intentignore", b"# ids\nINT-001\nintent:INT-404\nINT-777\nsrc/INT-001\n").json()
    assert [(one["line"], one["text"]) for one in answer["warnings"]] == [
        (2, "INT-001"),
        (3, "intent:INT-404"),
        (4, "INT-777"),
    ]
    assert "intent: INT-001" in answer["warnings"][0]["message"]


@pytest.mark.parametrize(
    "data", [b"a\xff", b"a\n\x00b", b"x" * (256 * 1024 + 1)], ids=["not UTF-8", "U+0000", "too large"]
)
def test_an_ignore_file_that_cannot_be_kept_is_refused(admin, acme, data):
    assert admin.put("intentignore", data).status_code == 400
