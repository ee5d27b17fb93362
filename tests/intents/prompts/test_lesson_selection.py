"""Which lessons a prompt carries, how many, and how soon it knows of a new one or a retirement."""

from __future__ import annotations

from datetime import date
from xml.etree import ElementTree as ET

import pytest
from django.db import transaction

from controlplane.policy.globs.scope import Scope
from intents.prompts.context import build_intent_context
from intents.prompts.lesson_selection import (
    MAX_CANDIDATE_FILES,
    MAX_CHARACTERS,
    MAX_LESSON_LENGTH,
    MAX_LESSONS,
    list_intents_by_lesson,
    select_by_scope,
    select_lessons,
)
from intents.selectors import find_intent
from tests import builders
from tests.traces.builders import lesson_book
from traces.lessons.retire import RetirementRequest, restore, retire
from traces.lessons.store import (
    MAX_FILE_LENGTH,
    MAX_FILES,
    Lesson,
    LessonSection,
    NewLesson,
    load_lessons,
    load_retirements,
    record_lesson,
)

AUTH = ("INT-001", ["src/auth/**"])
DOCS = ("INT-002", ["docs/*.md", "!docs/secret.md"])


def lesson(text, file="", intent_id="", **more):
    return Lesson(text, date(2026, 2, 21), file, text, intent_id=intent_id, **more)


def carried_under(newest, intent=AUTH, **how):
    intent_id, patterns = intent
    return select_by_scope(newest, {intent_id: Scope.from_patterns(patterns, **how)})[intent_id]


def texts(newest, intent=AUTH, **how):
    return [one.problems for one in carried_under(newest, intent, **how).lessons]


def test_lessons_of_files_in_scope_come_first_then_those_of_no_file_newest_first():
    newest = [
        lesson("everywhere, new"), lesson("other", "src/other.ts"), lesson("mine, new", "src/auth/b.ts"),
        lesson("everywhere, old"), lesson("mine, old", "src/auth/deep/a.ts"),
    ]  # fmt: skip
    assert texts(newest) == ["mine, new", "mine, old", "everywhere, new", "everywhere, old"]


def test_files_are_matched_by_the_globs_of_the_gate():
    newest = [lesson("top", "docs/a.md"), lesson("deep", "docs/a/b.md"), lesson("out", "docs/secret.md")]
    assert texts(newest, DOCS) == ["top"]
    assert texts(newest, ("INT-003", [])) == []
    assert texts([lesson("odd", "../docs/a.md"), lesson("abs", "/docs/a.md")], DOCS) == []


def test_case_counts_unless_the_workspace_says_otherwise():
    newest = [lesson("loud", "SRC/AUTH/a.ts"), lesson("sharp", "src/auth/STRASSE.ts")]
    assert texts(newest) == ["sharp"]
    assert texts(newest, ("INT-001", ["Src/auth/**", "!src/auth/straße.ts"]), case_insensitive=True) == [
        "loud"
    ]


def test_a_lesson_of_several_files_reaches_each_intent_that_owns_one_once():
    newest = [lesson("both", "docs/a.md", more_files=("src/auth/a.ts", "src/auth/b.ts", "lib/x.ts"))]
    assert texts(newest) == texts(newest, DOCS) == ["both"]
    assert texts(newest, ("INT-003", ["src/other/**"])) == []
    [note] = carried_under(newest).notes()
    assert note.file == "docs/a.md, src/auth/a.ts, src/auth/b.ts, lib/x.ts"


def test_long_names_of_files_leave_room_for_other_lessons():
    many = tuple(f"docs/{number}/{'x' * 400}.md" for number in range(MAX_FILES - 1))
    longest = lesson("many", "src/auth/a.ts", more_files=many)
    found = carried_under([longest, lesson("other", "src/auth/b.ts")])
    assert [one.problems for one in found.lessons] == ["many", "other"]
    names = found.notes()[0].file
    assert names == f"src/auth/a.ts, {many[0]}, {many[1]} and {MAX_FILES - 3} more"
    assert carried_under([lesson("deep", f"src/auth/{'x' * (MAX_FILE_LENGTH - 9)}")]).left_out == 0


def test_so_many_files_are_looked_at_in_all():
    many = tuple(f"docs/{number}.md" for number in range(MAX_FILES - 1))
    full = [
        lesson(f"no {number}", "src/auth/a.ts", more_files=many)
        for number in range(MAX_CANDIDATE_FILES // MAX_FILES)
    ]
    found = carried_under([*full, lesson("too old", "src/auth/a.ts")])
    assert len(found.lessons) + found.left_out == len(full)


def test_what_was_learned_under_an_intent_comes_with_it_whatever_the_file():
    newest = [
        lesson("of no file"), lesson("rejected", "docs/x.md", "INT-001"), lesson("own", "", "INT-001"),
        lesson("of another", "lib/x.ts", "INT-009"),
    ]  # fmt: skip
    assert texts(newest) == ["rejected", "own", "of no file"]


def test_there_is_room_for_so_many_and_the_rest_is_counted():
    found = carried_under([lesson(f"no {number}") for number in range(MAX_LESSONS + 3)])
    assert [one.problems for one in found.lessons] == [f"no {number}" for number in range(MAX_LESSONS)]
    assert found.left_out == 3


def test_there_is_room_for_so_many_characters_and_long_texts_are_cut():
    newest = [lesson(str(number) * 2 * MAX_LESSON_LENGTH, "src/auth/a.ts") for number in range(8)]
    found = carried_under(newest)
    notes = found.notes()
    assert all(len(note.text) == MAX_LESSON_LENGTH and note.text.endswith("…") for note in notes)
    assert 0 < len(notes) < 8
    assert sum(len(note.text) + len(note.file) for note in notes) <= MAX_CHARACTERS
    assert len(notes) + found.left_out == 8


def learn(workspace, text, file="", **more):
    with transaction.atomic():
        record_lesson(workspace.pk, NewLesson(file, text, **more), "token:1:agent")


@pytest.fixture
def auth(acme):
    return builders.intent(acme, status="IN_PROGRESS")


def test_the_context_says_section_and_source_and_how_many_were_left_out(acme, auth):
    for number in range(MAX_LESSONS):
        learn(acme, f"no {number}")
    root = ET.fromstring(build_intent_context(auth)["context"])
    assert "left_out" not in root.find("lessons").attrib
    learn(acme, "Money is kept in cents", section=LessonSection.DECISION)
    root = ET.fromstring(build_intent_context(auth)["context"])
    assert root.find("lessons").attrib == {"left_out": "1"}
    first = root.find("lessons")[0]
    assert (first.get("section"), first.get("source"), first.text) == (
        "decision",
        "session",
        "Money is kept in cents",
    )


def test_the_page_says_exactly_what_prompts_carry(acme, auth, django_assert_num_queries):
    builders.intent(acme, "INT-002", owned_scope=["docs/**"])
    builders.intent(acme, "INT-003", owned_scope=["src/**"], status="COMPLETED")
    learn(acme, "everywhere")
    learn(acme, "auth", "src/auth/a.ts")
    learn(acme, "nowhere", "lib/a.ts")
    newest = load_lessons(acme.pk)[::-1]
    retired = load_retirements(acme.pk)
    with django_assert_num_queries(2):
        found = list_intents_by_lesson(acme, retired)
    assert {one.problems: found.get(one.lesson_id, []) for one in newest} == {
        "everywhere": ["INT-001", "INT-002"], "auth": ["INT-001"], "nowhere": [],
    }  # fmt: skip
    assert [one.problems for one in select_lessons(auth).lessons] == ["auth", "everywhere"]


def test_prompts_and_the_page_ask_the_workspace_whether_case_counts(acme, auth, admin):
    learn(acme, "loud", "SRC/AUTH/a.ts")
    newest = lesson_book(acme.pk)[0].lesson_id
    for ignored, ids in ((False, []), (True, ["INT-001"]), (False, [])):
        answer = admin.patch("policy", {"case_insensitive_paths": ignored})
        assert answer.status_code == 200, answer.content
        acme.refresh_from_db()
        assert list_intents_by_lesson(acme, ()).get(newest, []) == ids
        assert len(select_lessons(find_intent(acme.pk, auth.intent_id)).lessons) == len(ids)


def prompt(agent):
    return agent.get("sessions/s-1/prompt").json()["prompt"]


@pytest.fixture
def at_work(acme, agent):
    builders.intent(acme)
    agent.select("INT-001")
    agent.gate("Read", file_path="src/auth/a.ts")
    return agent


def test_a_lesson_added_while_a_session_runs_comes_with_its_next_prompt(at_work, acme):
    assert "TS2322" not in prompt(at_work)
    change = {"path": "src/auth/a.ts", "content": "x", "problems": "error TS2322"}
    at_work.post("sessions/s-1/traces", change)
    assert "TS2322" in prompt(at_work)
    assert "TS2322" in at_work.post("sessions/s-1/preflight").json()["prompt"]
    by_hook = at_work.client.post(
        "/hooks/claude-code/UserPromptSubmit",
        {"session_id": "s-1", "hook_event_name": "UserPromptSubmit", "prompt": "go on", "cwd": "/srv"},
        content_type="application/json",
        headers={"Authorization": f"Bearer {at_work.secret}"},
    )
    assert "TS2322" in by_hook.content.decode()


def test_a_retired_lesson_leaves_the_next_prompt_and_comes_back_when_that_is_taken_back(at_work, acme):
    learn(acme, "error TS2322", "src/auth/a.ts")
    assert "TS2322" in prompt(at_work)
    wanted = RetirementRequest(lesson_book(acme.pk)[0].lesson_id, "fixed", "Rex", "user:1:Rex")
    retire(acme.pk, wanted)
    assert "TS2322" not in prompt(at_work)
    restore(acme.pk, wanted)
    assert "TS2322" in prompt(at_work)


def test_a_lesson_of_another_workspace_never_comes(at_work):
    learn(builders.workspace("elsewhere"), "error TS2322", "src/auth/a.ts")
    assert "TS2322" not in prompt(at_work)


def test_a_rejection_kept_as_a_lesson_comes_with_the_next_prompt(at_work, reviewer):
    asked = at_work.gate("Write", file_path="docs/design.md", content="x")["approval"]["id"]
    choice = {"action": "reject", "comment": "Written by hand, see ADR 7", "lesson": True}
    assert reviewer.post(f"approvals/{asked}/decide", choice).status_code == 200
    assert "Written by hand, see ADR 7" in prompt(at_work)
