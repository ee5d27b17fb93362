"""Lessons as people and other tools write them: the forms of real AGENT.md and CLAUDE.md files."""

from __future__ import annotations

from datetime import date

import pytest

from tests.workload import bounded
from traces.lessons.agent_md import parse_agent_md
from traces.lessons.other_forms import UnreadLine, parse_other_forms
from traces.lessons.store import LessonSection

LESSON, DECISION = LessonSection.LESSON, LessonSection.DECISION
FEB_18, FEB_20 = date(2026, 2, 18), date(2026, 2, 20)

FORMS = {
    "a heading with a time, and labels": (
        "### Lesson \N{EM DASH} 2026-02-18T10:00:00Z\n- **File**: src/a.ts\n- **Lesson**: Never trust x\n",
        [(LESSON, FEB_18, ("src/a.ts",), "Never trust x")],
    ),
    "subheadings with labels": (
        "## Lessons Learned\n\n### 2026-02-18: Tokens\n- **Issue:** it broke\n- **Solution:** mended\n",
        [(LESSON, FEB_18, (), "Tokens\n- **Issue:** it broke\n- **Solution:** mended")],
    ),
    "files behind their label": (
        "## Lessons Learned\n### 2026-02-18 14:30: B\n**Observation**: it fails\n**Affected Files**: src/a.ts, src/b.ts\n",
        [(LESSON, FEB_18, ("src/a.ts", "src/b.ts"), "B\n**Observation**: it fails")],
    ),
    "bullets with a date": (
        "## Lessons Learned\n\n- [2026-02-18] one\n- [2026-02-20 11:11] two\n  goes on\n",
        [(LESSON, FEB_18, (), "one"), (LESSON, FEB_20, (), "two\ngoes on")],
    ),
    "bullets below a date": (
        "## Lessons Learned\n### 2026-02-18\n- one\n- two with **bold** in it\n",
        [(LESSON, FEB_18, (), "one"), (LESSON, FEB_18, (), "two with **bold** in it")],
    ),
    "a time and a kind": (
        "### [2026-02-18T09:00] LESSON\nDo x\n\n### [2026-02-20T09:00] DECISION\nUse Redis\n",
        [(LESSON, FEB_18, (), "Do x"), (DECISION, FEB_20, (), "Use Redis")],
    ),
    "a picture and a title": (
        "## \N{BOOKS} Lesson Learned: The cache\nIt is stale after a restart.\n",
        [(LESSON, None, (), "The cache\nIt is stale after a restart.")],
    ),
    "decisions": ("## Architectural Decisions\n* Money is kept in cents\n", [(DECISION, None, (), "Money is kept in cents")]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), FORMS.values(), ids=FORMS)
def test_a_form_is_read(text, wanted):
    lessons, unread = parse_other_forms(f"# Knowledge\n\nSome words.\n\n{text}\n## Style\n- Use tabs\n")
    assert [
        (one.section, one.learned_on, (one.file, *one.more_files) if one.file else (), one.problems)
        for one in lessons
    ] == wanted
    assert unread == []


ELSEWHERE = [
    "## Style\n- Use tabs\n",
    "## Decision making\nWe vote.\n",
    "```\n## Lessons Learned\n- no\n```\n",
    "Lessons learned are below.\n",
]


@pytest.mark.parametrize("text", ELSEWHERE)
def test_what_is_no_lesson_is_left_alone(text):
    assert parse_other_forms(text) == ([], [])


def test_what_was_not_understood_is_reported_with_its_line():
    lessons, unread = parse_other_forms("# Lessons\n\n_Updated when a check fails_\n\n- one\n")
    assert [one.problems for one in lessons] == ["one"]
    assert unread == [UnreadLine(3, "_Updated when a check fails_")]


def test_both_forms_in_one_file_keep_the_numbers_of_the_lines():
    text = (
        "## Lesson Learned (2026-02-18)\n\n**File:** a.ts\n**Problems:**\nx\n\n## Lessons Learned\nodd\n- y\n"
    )
    lessons, unread = parse_agent_md(text)
    assert [one.problems for one in lessons] == ["x", "y"]
    assert unread == [UnreadLine(8, "odd")]


@pytest.mark.parametrize("piece", ["# ", "#", "- ", "lesson: ", "lesson ", "**", "-", "a.", "[2026-02-18] ", "# Lesson\n- a\n"])  # fmt: skip
def test_no_text_makes_reading_slow(piece):
    text = "# Lessons\n**Files**: " + piece * (300_000 // len(piece)) + "x\n"
    with bounded(100):
        parse_agent_md(text)
