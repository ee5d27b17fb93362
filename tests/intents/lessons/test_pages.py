"""The page of lessons, as reviewers and readers meet it."""

from __future__ import annotations

import pytest
from django.db import transaction

from intents.lessons import lesson_list
from intents.models import Intent
from intents.prompts.lesson_selection import select_lessons
from tests import builders
from tests.traces.builders import lesson_book
from traces.lessons.retire import RetirementRequest, retire
from traces.lessons.store import LessonSection, LessonSource, NewLesson, record_lesson

pytestmark = pytest.mark.django_db

URL = "/w/acme/lessons/"


def learn(workspace, text, file="", **more):
    with transaction.atomic():
        record_lesson(workspace.pk, NewLesson(file, text, **more), "token:1:agent")
    return lesson_book(workspace.pk)[0].lesson_id


def page(client, **query):
    response = client.get(URL, query)
    assert response.status_code == 200, response.content[:500]
    return response


def shown(response):
    return [row.lesson.problems for row in response.context["rows"]]


@pytest.fixture
def rexs(rex):
    return builders.signed_in(rex)


@pytest.fixture
def ivys(ivy):
    return builders.signed_in(ivy)


def test_each_lesson_says_where_it_came_from_and_how_often_it_came_again(acme, ivys):
    builders.intent(acme)
    for _ in range(3):
        learn(acme, "error TS2322", "src/auth/a.ts", session_id="s/1", intent_id="INT-001")
    learn(acme, "Ask first", "docs/a.md", source=LessonSource.APPROVAL, source_id="a1", by="Rex")
    learn(acme, "From the file", source=LessonSource.IMPORT)
    body = page(ivys).content.decode()
    assert 'href="/w/acme/sessions/s/1"' in body
    assert "repeated 2 times" in body
    assert 'href="/w/acme/approvals/a1/">a rejected approval</a>' in body
    assert "From an AGENT.md" in body


def test_all_files_of_a_lesson_are_named(acme, ivys):
    learn(acme, "of five", "src/0.ts", more_files=tuple(f"src/{number}.ts" for number in range(1, 5)))
    body = page(ivys).content.decode()
    assert all(f"<b>{number}.ts</b>" in body for number in range(5))
    assert "and 2 more files" in body


def test_each_lesson_says_whose_prompts_carry_it_and_prompts_do(acme, ivys):
    for number in (1, 2, 3):
        builders.intent(acme, f"INT-{number:03}", owned_scope=[f"src/{number}/**"], status="IN_PROGRESS")
    builders.intent(acme, "INT-004", owned_scope=["src/**"], status="COMPLETED")
    learn(acme, "of two", "src/2/a.ts")
    learn(acme, "of all")
    learn(acme, "of none", "lib/a.ts")
    rows = {row.lesson.problems: list(row.intent_ids) for row in page(ivys).context["rows"]}
    assert rows == {"of none": [], "of all": ["INT-001", "INT-002", "INT-003"], "of two": ["INT-002"]}
    for intent in Intent.objects.exclude(status="COMPLETED"):
        carried = {one.problems for one in select_lessons(intent).lessons}
        assert carried == {text for text, ids in rows.items() if intent.intent_id in ids}


def test_many_carriers_are_counted_and_not_all_named(acme, ivys):
    for number in range(1, 10):
        builders.intent(acme, f"INT-{number:03}")
    learn(acme, "of all")
    [row] = page(ivys).context["rows"]
    assert (len(row.intent_ids), row.more) == (6, 3)


def test_sections_are_tabs_with_counts(acme, ivys, rex):
    learn(acme, "a lesson")
    learn(acme, "a decision", section=LessonSection.DECISION)
    gone = learn(acme, "a constraint", section=LessonSection.CONSTRAINT)
    learn(acme, "another constraint", section=LessonSection.CONSTRAINT)
    retire(acme.pk, RetirementRequest(gone, "no longer", "Rex", "user:1:Rex"))
    everything = page(ivys)
    counts = {tab["label"]: tab["count"] for tab in everything.context["tabs"]}
    assert counts == {"In force": 3, "Lessons": 1, "Decisions": 1, "Constraints": 1, "Retired": 1}
    assert shown(everything) == ["another constraint", "a decision", "a lesson"]
    assert shown(page(ivys, show="decision")) == ["a decision"]
    retired = page(ivys, show="retired")
    assert shown(retired) == ["a constraint"]
    assert "no longer" in retired.content.decode()
    assert shown(page(ivys, show="poem")) == shown(everything)


def test_a_reviewer_retires_and_restores(acme, rexs):
    lesson_id = learn(acme, "old")
    url = f"{URL}{lesson_id}/retire/"
    assert "Give a reason" in rexs.post(url, {"reason": " "}, follow=True).content.decode()
    assert shown(page(rexs)) == ["old"]
    assert rexs.post(url, {"reason": "The parser was replaced"}).status_code == 302
    assert shown(page(rexs)) == []
    [lesson] = lesson_book(acme.pk)
    assert (lesson.retired.by, lesson.retired.reason) == ("Rex", "The parser was replaced")
    assert "already retired by Rex" in rexs.post(url, {"reason": "x"}, follow=True).content.decode()
    back = rexs.post(f"{URL}{lesson_id}/restore/?show=retired")
    assert back.headers["Location"] == f"{URL}?show=retired"
    assert shown(page(rexs)) == ["old"]
    assert rexs.post(f"{URL}none/retire/", {"reason": "x"}).status_code == 404
    assert rexs.get(url).status_code == 405


def test_a_reviewer_records_a_decision(acme, rexs):
    fields = {"section": "decision", "text": "Money is kept in cents", "file": "src/money.ts"}
    assert rexs.post(f"{URL}add/", fields).status_code == 302
    assert "its count was raised" in rexs.post(f"{URL}add/", fields, follow=True).content.decode()
    [lesson] = lesson_book(acme.pk)
    found = (lesson.section, lesson.problems, lesson.file, lesson.source, lesson.by, lesson.again)
    assert found == ("decision", "Money is kept in cents", "src/money.ts", "person", "Rex", 1)


def test_a_form_that_does_not_hold_keeps_what_was_typed(acme, rexs):
    answer = rexs.post(f"{URL}add/", {"section": "poem", "text": "Roses are red", "file": "a.ts"})
    assert answer.status_code == 400
    assert "Roses are red" in answer.content.decode()
    assert rexs.post(f"{URL}add/", {"section": "lesson", "text": " "}).status_code == 400
    assert lesson_book(acme.pk) == []


def test_a_reader_changes_nothing_and_sees_no_buttons(acme, ivys):
    lesson_id = learn(acme, "old")
    body = page(ivys).content.decode()
    assert "Retire" not in body.replace("Retired", "")
    assert 'aria-label="Record a lesson"' not in body
    for path, fields in (
        (f"{lesson_id}/retire/", {"reason": "x"}), (f"{lesson_id}/restore/", {}),
        ("add/", {"section": "lesson", "text": "x"}),
    ):  # fmt: skip
        assert ivys.post(f"{URL}{path}", fields).status_code == 403
    assert lesson_book(acme.pk)[0].retired is None


def test_pages_of_rows_keep_the_section(acme, ivys, monkeypatch):
    monkeypatch.setattr(lesson_list, "PAGE_SIZE", 2)
    for number in range(3):
        learn(acme, f"no {number}", section=LessonSection.DECISION)
    first = page(ivys, show="decision")
    assert (shown(first), first.context["newer_url"]) == (["no 2", "no 1"], None)
    second = ivys.get(URL + first.context["older_url"])
    assert (shown(second), second.context["older_url"]) == (["no 0"], None)
    assert shown(ivys.get(URL + second.context["newer_url"])) == ["no 2", "no 1"]
    assert page(ivys, **{"from": "9" * 18}).status_code == 200


def test_the_address_of_a_lesson_leads_to_where_it_stands_now(acme, ivys, monkeypatch):
    monkeypatch.setattr(lesson_list, "PAGE_SIZE", 2)
    first = learn(acme, "no 1")
    for number in range(2, 6):
        last = learn(acme, f"no {number}")
    url = f"{URL}{first}/"
    assert ivys.get(f"{URL}{last}/").headers["Location"] == f"{URL}?#lesson-{last}"
    found = ivys.get(url).headers["Location"]
    assert found == f"{URL}?from=4#lesson-{first}"
    assert f'id="lesson-{first}"' in ivys.get(found).content.decode()
    retire(acme.pk, RetirementRequest(first, "x", "Rex", "user:1:Rex"))
    assert ivys.get(url).headers["Location"] == f"{URL}?show=retired#lesson-{first}"
    assert ivys.get(f"{URL}none/").status_code == 404
    assert ivys.post(url).status_code == 405


def test_nobody_is_led_to_a_lesson_of_another_workspace(acme, ivys):
    elsewhere = learn(builders.workspace("elsewhere"), "secret")
    assert ivys.get(f"{URL}{elsewhere}/").status_code == 404


def test_a_page_stays_small_and_costs_the_same(acme, ivys, django_assert_max_num_queries):
    for number in range(30):
        learn(acme, f"{number} " + "x" * 20_000)
        builders.intent(acme, f"INT-{number:03}", owned_scope=[f"src/{number}/**"])
    ivys.get(URL)
    with django_assert_max_num_queries(12):
        response = page(ivys)
    assert len(response.content) < 200_000


def test_retired_lessons_are_not_in_agent_md(acme, ivys):
    learn(acme, "stays")
    retire(acme.pk, RetirementRequest(learn(acme, "goes"), "x", "Rex", "user:1:Rex"))
    text = page(ivys, format="markdown").content.decode()
    assert "stays" in text
    assert "goes" not in text
