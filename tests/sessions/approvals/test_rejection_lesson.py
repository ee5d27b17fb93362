"""A rejected approval becomes a lesson where the reviewer says so."""

from __future__ import annotations

import pytest

from intents.prompts.lesson_selection import select_lessons
from sessions.approvals import lifecycle as approvals
from sessions.approvals import rejection_lesson
from sessions.models import Approval
from tests import builders
from tests.sessions.approvals.approval_builders import ask, card, decide, edit, page
from tests.traces.builders import lesson_book
from traces.ledger.redaction import redact
from traces.lessons.store import LessonSource, load_lessons
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db

WORDS = "The design is written by hand. Ask the architects"


@pytest.fixture
def asked(acme, agent):
    builders.intent(acme)
    agent.select("INT-001")
    return edit(agent)


def over_rest(speaker, approval, **choice):
    return speaker.post(f"approvals/{approval.public_id}/decide", {"action": "reject", **choice})


def test_the_reviewers_words_become_a_lesson_about_the_file(asked, reviewer):
    answer = over_rest(reviewer, asked, comment=WORDS, lesson=True)
    assert answer.status_code == 200
    [lesson] = load_lessons(asked.workspace_id)
    assert answer.json()["lesson_id"] == lesson.lesson_id
    assert (lesson.file, lesson.problems) == ("docs/design.md", WORDS)
    assert (lesson.source, lesson.source_id, lesson.by) == (
        LessonSource.APPROVAL,
        asked.public_id,
        "reviewer token",
    )
    assert (lesson.session_id, lesson.intent_id) == ("s-1", "INT-001")


def test_a_rejection_alone_is_no_lesson(asked, reviewer):
    answer = over_rest(reviewer, asked, comment=WORDS)
    assert (answer.status_code, answer.json()["lesson_id"]) == (200, None)
    assert load_lessons(asked.workspace_id) == []


def test_an_approval_is_no_lesson(asked, reviewer):
    answer = reviewer.post(f"approvals/{asked.public_id}/decide", {"action": "approve", "comment": WORDS})
    assert (answer.json()["status"], answer.json()["lesson_id"]) == ("APPROVED", None)


@pytest.mark.parametrize(
    "choice",
    [{"comment": ""}, {"comment": "  \n"}, {"action": "approve", "comment": WORDS}, {"lesson": "yes"}],
)
def test_what_cannot_become_a_lesson_is_refused_and_still_waits(asked, reviewer, choice):
    answer = over_rest(reviewer, asked, **{"lesson": True, **choice})
    assert (answer.status_code, answer.json()["error_type"]) == (400, "INVALID_INPUT")
    asked.refresh_from_db()
    assert (asked.status, load_lessons(asked.workspace_id)) == (Approval.Status.PENDING, [])


def test_decision_and_lesson_are_recorded_together_or_not_at_all(asked, reviewer, monkeypatch):
    def fail(*_):
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(rejection_lesson, "record_lesson", fail)
    assert over_rest(reviewer, asked, comment=WORDS, lesson=True).status_code == 500
    asked.refresh_from_db()
    assert asked.status == Approval.Status.PENDING


def test_the_same_words_about_the_same_file_come_again(asked, agent, reviewer):
    over_rest(reviewer, asked, comment=WORDS, lesson=True)
    second = edit(agent, new_string="three", old_string="two", session="s-2")
    answer = over_rest(reviewer, second, comment=f"{WORDS.lower()}.", lesson=True)
    [lesson] = lesson_book(asked.workspace_id)
    assert (lesson.again, lesson.source_id) == (1, asked.public_id)
    assert answer.json()["lesson_id"] == lesson.lesson_id
    third = edit(agent, new_string="five", old_string="four", session="s-3")
    assert over_rest(reviewer, third, comment=WORDS).json()["lesson_id"] is None  # without the tick


def test_a_request_for_scope_is_about_no_file(asked, agent, reviewer):
    agent.post("sessions/s-1/request-scope", {"patterns": ["docs/**"], "reason": "docs"})
    wider = Approval.objects.get(kind=Approval.Kind.SCOPE)
    over_rest(reviewer, wider, comment=WORDS, lesson=True)
    assert [(one.file, one.intent_id) for one in load_lessons(asked.workspace_id)] == [("", "INT-001")]


def test_of_several_files_it_names_all_and_reaches_who_owns_one(asked, agent, reviewer):
    docs = builders.intent(asked.workspace, "INT-002", owned_scope=["docs/*.md"])
    lib = builders.intent(asked.workspace, "INT-003", owned_scope=["lib/**"])
    other = builders.intent(asked.workspace, "INT-004", owned_scope=["src/other/**"])
    several = ask(agent, "Bash", command="rm src/auth/a.ts lib/b.ts docs/c.md docs/d.md")
    assert over_rest(reviewer, several, comment=WORDS, lesson=True).status_code == 200
    [lesson] = load_lessons(asked.workspace_id)
    assert lesson.files == ("lib/b.ts", "docs/c.md", "docs/d.md")
    assert [len(select_lessons(intent).lessons) for intent in (docs, lib, other)] == [1, 1, 0]


def test_the_card_has_a_tick_for_it(asked, rex):
    client = builders.signed_in(rex)
    assert "Make this a lesson" in page(client, card(asked))
    answer = decide(client, asked, action="reject", preset="Not now.", comment=WORDS, lesson="on")
    assert answer.status_code == 200
    [lesson] = load_lessons(asked.workspace_id)
    assert (lesson.problems, lesson.by) == (f"Not now. {WORDS}", "Rex")
    asked.refresh_from_db()
    assert asked.status == Approval.Status.REJECTED
    leads = f'<a href="/w/acme/lessons/{lesson.lesson_id}/">'
    assert leads in answer.content.decode()
    assert leads in page(client, card(asked))  # and for whoever looks later
    redact(LedgerEntry.objects.get(entry_id=lesson.lesson_id), reason="a name", actor="user:1:Ada")
    assert "Saved as a lesson" not in page(client, card(asked))


def test_without_script_a_word_tells_of_it(asked, agent, rex):
    client = builders.signed_in(rex)
    second = edit(agent, path="docs/other.md")
    first = decide(client, asked, htmx=False, action="reject", comment=WORDS, lesson="on")
    assert "Rejected by you. The comment is saved as a lesson." in page(client, first.headers["Location"])
    last = decide(client, second, htmx=False, action="reject", comment=WORDS)
    assert "kept as a lesson" not in page(client, last.headers["Location"])


def test_without_the_tick_the_card_keeps_none(asked, rex):
    answer = decide(builders.signed_in(rex), asked, action="reject", comment=WORDS)
    assert "Saved as a lesson" not in answer.content.decode()
    assert load_lessons(asked.workspace_id) == []
    assert approvals.find_pending(asked.session, asked.digest) is None
