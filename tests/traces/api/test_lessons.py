"""Lessons over REST: in and out, by section, retired and taken back."""

from __future__ import annotations

import pytest

from tests import builders
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db


def post_file(speaker, text):
    return speaker.post("lessons", text, content_type="text/markdown")


def listed(speaker, **query):
    return speaker.get("lessons", **query).json()["results"]


def test_lessons_in_and_out(agent):
    lesson = {"file": "src/a.ts", "problems": "error TS2322: no", "learned_on": "2026-02-21"}
    assert agent.post("lessons", lesson).json() == {"recorded": 1, "duplicates": 0}
    assert agent.post("lessons", lesson).status_code == 200
    row = agent.get("lessons").json()["results"][0]
    assert (row["file"], row["problems"], row["learned_on"]) == ("src/a.ts", "error TS2322: no", "2026-02-21")
    markdown = agent.get("lessons", format="markdown").content.decode()
    assert markdown == (
        "## Lesson Learned (2026-02-21)\n\n**File:** src/a.ts\n**Problems:**\nerror TS2322: no\n\n"
    )
    other = builders.speaker(builders.workspace("other"))
    text = f"# Our rules\n\nBe kind.\n\n{markdown}## Something else\n\nx\n"
    assert post_file(other, text).json() == {"recorded": 1, "duplicates": 0}
    assert other.get("lessons", format="markdown").content.decode() == markdown
    assert agent.post("lessons", {"file": "x"}).status_code == 400
    assert post_file(agent, b"\xff").status_code == 400


def test_a_lesson_of_several_files_goes_out_and_in_as_one(agent):
    text = (
        "## Lesson Learned (2026-02-21)\n\n**File:** src/a.ts\n**File:** src/b, c.ts\n"
        "**Problems:**\n\\**File:** is no name\n\n"
    )
    assert post_file(agent, text).json() == {"recorded": 1, "duplicates": 0}
    assert post_file(agent, text).json() == {"recorded": 0, "duplicates": 1}
    [row] = listed(agent)
    assert (row["file"], row["files"]) == ("src/a.ts", ["src/a.ts", "src/b, c.ts"])
    assert row["problems"] == "**File:** is no name"
    assert agent.get("lessons", format="markdown").content.decode() == text
    agent.post("lessons", {"problems": "Of no file"})
    assert (listed(agent)[0]["file"], listed(agent)[0]["files"]) == ("", [])


def test_each_section_goes_in_and_out(agent):
    for section in ("lesson", "decision", "constraint"):
        assert agent.post("lessons", {"section": section, "problems": "Cents, not floats"}).status_code == 201
    assert {one["section"] for one in listed(agent)} == {"lesson", "decision", "constraint"}
    assert [one["section"] for one in listed(agent, section="decision")] == ["decision"]
    markdown = agent.get("lessons", format="markdown").content
    other = builders.speaker(builders.workspace("other"))
    assert post_file(other, markdown).json() == {"recorded": 3, "duplicates": 0}
    assert post_file(other, markdown).json() == {"recorded": 0, "duplicates": 3}
    assert other.get("lessons", format="markdown").content == markdown
    assert {(one["source"], one["by"], one["again"]) for one in listed(other)} == {
        ("import", "agent token", 0)
    }
    assert agent.post("lessons", {"section": "poem", "problems": "x"}).status_code == 400
    assert agent.get("lessons", section="poem").status_code == 400


def test_where_a_lesson_comes_from_and_how_often_it_came_again(agent, acme):
    builders.intent(acme)
    agent.select("INT-001")
    for content in ("one", "two", "three"):
        change = {"path": "src/auth/a.ts", "content": content, "problems": ["error TS2322: no"]}
        assert agent.post("sessions/s-1/traces", change).status_code == 201
    assert agent.post("lessons", {"problems": "By hand"}).status_code == 201
    by_hand, from_session = listed(agent)
    assert (by_hand["source"], by_hand["by"], by_hand["again"]) == ("api", "agent token", 0)
    names = ("source", "session_id", "intent_id", "file", "problems", "again")
    assert [from_session[name] for name in names] == [
        "session", "s-1", "INT-001", "src/auth/a.ts", "error TS2322: no", 2,
    ]  # fmt: skip


def test_a_reviewer_retires_a_lesson_and_takes_that_back(agent, reviewer):
    agent.post("lessons", {"problems": "Old"})
    agent.post("lessons", {"problems": "New"})
    old = listed(agent)[1]["id"]
    assert agent.post(f"lessons/{old}/retire", {"reason": "mine"}).status_code == 403
    for body in ({}, {"reason": ""}, {"reason": "  "}, {"reason": "x" * 501}):
        assert reviewer.post(f"lessons/{old}/retire", body).status_code == 400
    answer = reviewer.post(f"lessons/{old}/retire", {"reason": "The parser was replaced"})
    assert answer.status_code == 200
    retired = answer.json()["retired"]
    assert (retired["by"], retired["reason"]) == ("reviewer token", "The parser was replaced")
    assert [one["problems"] for one in listed(agent)] == ["New"]
    assert [one["problems"] for one in listed(agent, state="retired")] == ["Old"]
    assert [one["problems"] for one in listed(agent, state="all")] == ["New", "Old"]
    assert b"Old" not in agent.get("lessons", format="markdown").content
    retired_file = agent.get("lessons", format="markdown", state="retired").content
    assert (b"Old" in retired_file, b"New" in retired_file) == (True, False)
    assert (
        reviewer.post(f"lessons/{old}/retire", {"reason": "again"}).json()["error_type"] == "ALREADY_RETIRED"
    )
    assert reviewer.post(f"lessons/{old}/restore").json()["retired"] is None
    assert reviewer.post(f"lessons/{old}/restore").status_code == 409
    assert [one["problems"] for one in listed(agent)] == ["New", "Old"]
    assert reviewer.post("lessons/none/retire", {"reason": "x"}).status_code == 404
    assert agent.get("lessons", state="gone").status_code == 400


def test_nobody_retires_a_lesson_of_another_workspace(agent, reviewer):
    agent.post("lessons", {"problems": "Ours"})
    ours = listed(agent)[0]["id"]
    stranger = builders.speaker(builders.workspace("elsewhere"), "admin")
    assert stranger.post(f"lessons/{ours}/retire", {"reason": "x"}).status_code == 404
    assert stranger.get("lessons", state="all").json()["results"] == []
    assert not LedgerEntry.objects.filter(outcome="retired").exists()


def test_pages_of_lessons_leave_no_retired_one_in(agent, reviewer):
    for number in range(5):
        agent.post("lessons", {"problems": f"no {number}"})
    for lesson in listed(agent)[1:3]:
        reviewer.post(f"lessons/{lesson['id']}/retire", {"reason": "x"})
    first = agent.get("lessons", limit=2).json()
    second = agent.get("lessons", limit=2, cursor=first["next"]).json()
    found = [one["problems"] for one in first["results"] + second["results"]]
    assert (found, second["next"]) == (["no 4", "no 1", "no 0"], None)


def test_what_a_file_says_in_other_words_is_recorded_or_named(agent):
    text = "# Lessons\nodd\n- [2026-02-20] one\n- two\n"
    assert post_file(agent, text).json() == {
        "recorded": 2,
        "duplicates": 0,
        "not_understood": [{"line": 2, "text": "odd"}],
    }
