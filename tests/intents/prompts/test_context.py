"""What the handshake hands over, as XML and as JSON."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.policy.model import IntentStatus
from intents import registry
from intents.file_format.values import IntentValues
from intents.prompts.context import build_intent_context
from intents.prompts.context_xml import FileState, HistoryItem, LessonNote, PromptContext, render_intent_xml
from intents.selectors import find_intent
from tests import builders
from traces.entries.record import Mutation, MutationAuthor, record_mutation
from traces.ledger.append import NewEntry, append
from traces.lessons.store import NewLesson, record_lesson

INTENT = IntentValues(
    intent_id="INT-001",
    name="Auth & <tokens>",
    status=IntentStatus.IN_PROGRESS,
    owned_scope=("src/auth/**",),
    constraints=("Use bcrypt", {"type": "max_file_lines", "value": 400}),
    acceptance_criteria=("p < 5 ms",),
    references=("docs/a.md",),
)


def test_the_form_is_the_contracts():
    around = PromptContext(
        history=[HistoryItem("2026-01-01T00:00:00+00:00", "changed a.ts", "s-1")],
        files=[FileState("src/auth/a.ts", "sha256:00", "2026-01-01T00:00:00+00:00", "INT-001")],
        lessons=[LessonNote("2026-01-01", "src/auth/a.ts", "lint failed")],
    )
    root = ET.fromstring(render_intent_xml(INTENT, around))
    assert (root.tag, root.attrib) == ("intent_context", {"intent_id": "INT-001"})
    assert [child.tag for child in root] == [
        "name", "status", "owned_scope", "constraints", "acceptance_criteria", "references", "recent_history",
        "files", "lessons",
    ]  # fmt: skip
    assert root.findtext("name") == "Auth & <tokens>"
    assert root.findtext("status") == "IN_PROGRESS"
    assert root.findtext("owned_scope/pattern") == "src/auth/**"
    assert [item.text for item in root.findall("constraints/constraint")] == ["Use bcrypt", '{"value": 400}']
    assert root.find("constraints")[1].attrib == {"type": "max_file_lines"}
    assert root.findtext("acceptance_criteria/criterion") == "p < 5 ms"
    assert root.findtext("references/reference") == "docs/a.md"
    assert root.findtext("recent_history/entry") == "changed a.ts"
    assert root.find("files/file").get("path") == "src/auth/a.ts"
    assert root.findtext("lessons/lesson") == "lint failed"


@given(st.text(max_size=30), st.text(max_size=30))
def test_whatever_the_texts_are_it_is_xml(name, pattern):
    text = render_intent_xml(
        IntentValues(name, name=name, description=name, owned_scope=(pattern,)), PromptContext()
    )
    assert ET.fromstring(text).tag == "intent_context"
    assert text.count("<intent_context ") == 1


@pytest.fixture
def auth(acme):
    return builders.intent(acme, status="IN_PROGRESS")


def change(workspace, path, content, intent_id="INT-001"):
    record_mutation(
        workspace.pk,
        Mutation(path=path, content=content),
        MutationAuthor(session_id="s-1", intent_id=intent_id),
    )


def test_a_new_intent_has_no_past(auth):
    handed = build_intent_context(auth)
    assert handed["files"] == handed["lessons"] == []
    assert [item["summary"] for item in handed["history"]] == ["intent added"]
    assert handed["intent"]["owned_scope"] == ["src/auth/**"]
    assert handed["intent"]["constraints"] == ["Keep it simple"]


def test_the_past_is_what_the_ledger_says(acme, auth):
    change(acme, "src/auth/a.ts", "one")
    change(acme, "src/auth/a.ts", "two")
    change(acme, "src/auth/a.ts", "three", "INT-002")
    change(acme, "src/auth/b.ts", "b")
    change(builders.workspace("elsewhere"), "src/auth/c.ts", "c")
    for outcome in ("allow", "deny"):
        append(
            NewEntry(
                acme.pk, "decision", {}, intent_id="INT-001", outcome=outcome, tool="Write",
                error_type="SCOPE_VIOLATION", reason="not_in_scope",
            )
        )  # fmt: skip
    handed = build_intent_context(auth)
    assert [item["summary"] for item in handed["history"]] == [
        "changed src/auth/a.ts",
        "changed src/auth/a.ts",
        "changed src/auth/b.ts",
        "intent added",
        "1 refused, last: Write (SCOPE_VIOLATION, not_in_scope)",
    ]
    assert [(file["path"], file["intent_id"]) for file in handed["files"]] == [
        ("src/auth/b.ts", "INT-001"),
        ("src/auth/a.ts", "INT-002"),
    ]
    assert all(file["content_hash"].startswith("sha256:") for file in handed["files"])


def test_lessons_are_those_of_its_files(acme, auth):
    for file, problems in (("src/auth/a.ts", "mine"), ("src/other.ts", "not mine"), ("", "for all")):
        record_lesson(acme.pk, NewLesson(file=file, problems=problems), "token:1:agent")
    assert [lesson["text"] for lesson in build_intent_context(auth)["lessons"]] == ["mine", "for all"]


def test_the_number_of_queries_does_not_grow(acme, auth, django_assert_max_num_queries):
    for number in range(60):
        change(acme, f"src/auth/{number}.ts", "x")
    found = find_intent(acme.pk, auth.intent_id)
    with django_assert_max_num_queries(7):
        handed = build_intent_context(found)
    assert len(handed["history"]) == 20
    assert len(handed["files"]) == 50


def test_a_move_is_remembered(auth):
    registry.move(auth, IntentStatus.BLOCKED, actor="ada", blocked_reason="Redis")
    handed = build_intent_context(auth)
    assert [item["summary"] for item in handed["history"]] == ["intent added", "intent changed"]
    assert "<status>BLOCKED</status>" in handed["context"]
