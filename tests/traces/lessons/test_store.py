"""Lessons: what is the same, what comes again, and what people retire."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from django.db import transaction

from controlplane.api.errors import get_status_code
from controlplane.shared.errors import DomainError
from tests.traces.builders import AWAY, HOME, lesson_book
from traces.ledger.append import read_body
from traces.ledger.redaction import redact
from traces.lessons.retire import RetirementRequest, restore, retire
from traces.lessons.store import (
    MAX_FILES,
    LessonSection,
    LessonSource,
    NewLesson,
    load_lessons,
    record_lesson,
)
from traces.models import LedgerEntry
from traces.timeline.describe_entries import describe

pytestmark = pytest.mark.django_db

BROKEN = NewLesson("src/a.ts", "error TS2322: no")


def learn(lesson=BROKEN, workspace_id=HOME, **fields):
    with transaction.atomic():
        return record_lesson(workspace_id, replace(lesson, **fields), "token:1:Max")


def by_rex(lesson_id, reason="fixed by the new parser"):
    return RetirementRequest(lesson_id, reason, "Rex", "user:2:Rex")


def the_lesson():
    [found] = lesson_book(HOME)
    return found


def refusal(act, *args):
    with pytest.raises(DomainError) as refused:
        act(*args)
    return get_status_code(refused.value), refused.value.error_type


@pytest.mark.parametrize(
    "text",
    [
        "Error TS2322: NO", "  error   TS2322:\n\tno  ", "error TS2322: no.", "- error TS2322: no!?",
        '"error TS2322: no"', "\N{BULLET} error TS2322: no\N{HORIZONTAL ELLIPSIS}",
    ],
)  # fmt: skip
def test_texts_that_differ_in_case_space_and_ends_are_one_lesson_that_came_again(text):
    assert learn()
    assert not learn(problems=text)
    assert (the_lesson().problems, the_lesson().again) == ("error TS2322: no", 1)


@pytest.mark.parametrize(
    "fields",
    [
        {"problems": "error TS2322: now"}, {"file": "src/b.ts"}, {"section": LessonSection.CONSTRAINT},
        {"problems": "error, TS2322: no"},
    ],
)  # fmt: skip
def test_another_text_file_or_section_is_another_lesson(fields):
    assert learn()
    assert learn(**fields)
    assert [one.again for one in lesson_book(HOME)] == [0, 0]


def test_one_about_several_files_is_known_in_any_order_and_each_spelling():
    assert learn(more_files=("src/b.ts", "./src/a.ts", "", "src/c.ts"))
    assert not learn(file="src/c.ts", more_files=("src//b.ts", "src/a.ts"))
    assert (the_lesson().files, the_lesson().again) == (("src/a.ts", "src/b.ts", "src/c.ts"), 1)
    retire(HOME, by_rex(the_lesson().lesson_id))
    assert not learn(file="src/b.ts", more_files=("src/c.ts", "src/a.ts"))
    assert load_lessons(HOME) == []


def test_the_same_text_about_other_files_is_another_lesson():
    assert learn()
    assert learn(more_files=("src/b.ts",))
    assert learn(file="", more_files=("src/b.ts",))
    assert not learn(file="src/b.ts")
    assert [one.files for one in load_lessons(HOME)] == [
        ("src/a.ts",),
        ("src/a.ts", "src/b.ts"),
        ("src/b.ts",),
    ]


def test_so_many_files_are_named_and_no_more():
    learn(more_files=tuple(f"src/{number}.ts" for number in range(MAX_FILES + 10)))
    assert len(the_lesson().files) == MAX_FILES
    assert the_lesson().files[:2] == ("src/a.ts", "src/0.ts")


def test_the_ledger_tells_how_many_files_more():
    learn(more_files=("src/b.ts", "src/c.ts"))
    row = describe(LedgerEntry.objects.get())
    assert (row.object, row.object_is, row.meta) == ("src/a.ts", "path", "and 2 more files")


def test_names_of_languages_are_not_punctuation():
    assert learn(problems="Do not write C")
    assert learn(problems="Do not write C++")
    assert learn(problems="Do not write C#")


def test_texts_of_nothing_but_punctuation_stay_apart():
    assert learn(problems="?!")
    assert learn(problems="...")
    assert not learn(problems="   \n ")


def test_a_file_that_brings_a_lesson_again_does_not_count():
    learn()
    for _ in range(3):
        assert not learn(source=LessonSource.IMPORT)
    assert the_lesson().again == 0


def test_one_rejection_counts_once():
    learn()
    for _ in range(2):
        learn(source=LessonSource.APPROVAL, source_id="a-1")
    assert the_lesson().again == 1


def test_a_retired_lesson_is_kept_with_who_why_and_when_and_can_be_taken_back():
    learn()
    learn(file="src/b.ts")
    wanted = next(one for one in lesson_book(HOME) if one.file == "src/a.ts")
    retired = retire(HOME, by_rex(wanted.lesson_id)).retired
    assert (retired.by, retired.reason) == ("Rex", "fixed by the new parser")
    assert [one.file for one in load_lessons(HOME)] == ["src/b.ts"]
    assert [(one.file, one.retired is not None) for one in lesson_book(HOME)] == [
        ("src/b.ts", False),
        ("src/a.ts", True),
    ]
    assert restore(HOME, by_rex(wanted.lesson_id, "")).retired is None
    assert [one.file for one in load_lessons(HOME)] == ["src/a.ts", "src/b.ts"]
    retire(HOME, by_rex(wanted.lesson_id, "gone for good"))
    assert [one.retired.reason for one in lesson_book(HOME) if one.retired] == ["gone for good"]
    assert [row.outcome for row in LedgerEntry.objects.order_by("pk")] == [
        "learned", "learned", "retired", "restored", "retired",
    ]  # fmt: skip
    rows = [describe(entry) for entry in LedgerEntry.objects.order_by("pk")]
    assert [(row.verb, row.note) for row in rows[1:4]] == [
        ("Learned", "error TS2322: no"), ("Retired", "fixed by the new parser"), ("Restored", ""),
    ]  # fmt: skip


def test_what_cannot_be_retired_is_refused_and_nothing_is_recorded():
    learn()
    lesson_id = the_lesson().lesson_id
    assert refusal(retire, HOME, by_rex(lesson_id, " \n ")) == (400, "INVALID_INPUT")
    assert refusal(restore, HOME, by_rex(lesson_id)) == (409, "NOT_RETIRED")
    assert refusal(retire, HOME, by_rex("no-such-lesson")) == (404, "NOT_FOUND")
    assert refusal(retire, AWAY, by_rex(lesson_id)) == (404, "NOT_FOUND")
    retire(HOME, by_rex(lesson_id))
    assert refusal(retire, HOME, by_rex(lesson_id)) == (409, "ALREADY_RETIRED")
    assert LedgerEntry.objects.count() == 2


def test_of_two_people_who_retire_at_once_the_first_counts(monkeypatch):
    learn()
    lesson_id = the_lesson().lesson_id
    retire(HOME, by_rex(lesson_id))
    monkeypatch.setattr("traces.lessons.retire._count_turns", lambda _: 0)  # as the second one read it before
    assert refusal(retire, HOME, by_rex(lesson_id)) == (409, "ALREADY_RETIRED")
    assert LedgerEntry.objects.filter(outcome="retired").count() == 1


def test_a_retired_lesson_that_comes_again_stays_retired_and_says_so():
    learn()
    retire(HOME, by_rex(the_lesson().lesson_id))
    assert not learn(source=LessonSource.IMPORT)
    assert not learn()
    assert load_lessons(HOME) == []
    assert the_lesson().again == 1


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("./src//a.ts", "src/a.ts"), ("src\\a.ts", "src/a.ts"), ("src/b/../a.ts", "src/a.ts"), (" src/a.ts ", "src/a.ts"),
        ("/srv/shop/src/a.ts", "/srv/shop/src/a.ts"), ("../elsewhere.ts", "../elsewhere.ts"), ("", ""), (".", ""),
    ],
)  # fmt: skip
def test_a_file_is_kept_as_scopes_name_it(sent, kept):
    learn(file=sent)
    assert the_lesson().file == kept


def test_a_redacted_lesson_leaves_no_text_behind_when_it_comes_again():
    learn()
    redact(LedgerEntry.objects.get(), reason="private", actor="user:1:Ada")
    learn()
    entries = LedgerEntry.objects.select_related("body").filter(kind="lesson")
    assert "TS2322" not in json.dumps([read_body(entry) for entry in entries])
    assert lesson_book(HOME) == []


def test_a_redacted_lesson_cannot_be_retired():
    learn()
    lesson_id = the_lesson().lesson_id
    redact(LedgerEntry.objects.get(), reason="private", actor="user:1:Ada")
    assert refusal(retire, HOME, by_rex(lesson_id)) == (404, "NOT_FOUND")


def test_a_redacted_retirement_still_retires():
    learn()
    retire(HOME, by_rex(the_lesson().lesson_id))
    redact(LedgerEntry.objects.get(outcome="retired"), reason="a name", actor="user:1:Ada")
    assert (the_lesson().retired.by, the_lesson().retired.reason) == ("", "")
    assert load_lessons(HOME) == []


def test_a_reason_holds_no_secret():
    learn()
    retire(HOME, by_rex(the_lesson().lesson_id, "password=hunter2hunter2"))
    assert "hunter2" not in the_lesson().retired.reason


def test_the_number_of_queries_does_not_grow(django_assert_num_queries):
    for number in range(30):
        learn(problems=f"no {number}")
        learn(problems=f"no {number}")
    for lesson in lesson_book(HOME)[:10]:
        retire(HOME, by_rex(lesson.lesson_id))
    with django_assert_num_queries(3):
        book = lesson_book(HOME)
    assert (len(book), sum(one.again for one in book), sum(1 for one in book if one.retired)) == (
        30,
        30,
        10,
    )
    with django_assert_num_queries(2):
        assert len(load_lessons(HOME)) == 20
