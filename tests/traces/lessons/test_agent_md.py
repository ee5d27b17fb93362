"""AGENT.md: lessons come back as they were written."""

from __future__ import annotations

from datetime import date

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from traces.lessons.agent_md import parse_agent_md, render_agent_md
from traces.lessons.store import Lesson, LessonSource
from traces.lessons.store import LessonSection as Kept

LINES = st.text(st.characters(exclude_characters="\x00\r", exclude_categories=("Cs",)), max_size=30)


TRICKY = st.sampled_from(
    [
        "## Lesson Learned (2026-01-01)",
        "## Constraint (2026-01-01)",
        "**Decision:** z",
        "# x",
        "**File:** x",
        "**Problems:** y",
        "\\## z",
        "",
        "a",
    ]
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # the machine's load, not the data
@given(
    st.lists(st.lists(LINES | TRICKY, min_size=1, max_size=5), max_size=4),
    st.dates(date(1, 1, 1)),
    st.sampled_from(Kept),
)
def test_lessons_come_back_the_same(blocks, day, section):
    texts = [
        text
        for lines in blocks
        if (text := "\n".join(line.rstrip() for line in "\n".join(lines).strip().splitlines()))
    ]
    written = render_agent_md([Lesson("id", day, "src/a.ts", text, section=section) for text in texts])
    read, _ = parse_agent_md(written)
    assert [(one.file, one.learned_on, one.section) for one in read] == [("src/a.ts", day, section)] * len(
        texts
    )
    assert [one.problems for one in read] == texts


def test_each_section_of_agent_md_has_its_heading_and_label():
    day = date(2026, 2, 21)
    kept = [
        Lesson("1", day, "src/a.ts", "error TS2322", section=Kept.LESSON),
        Lesson("2", day, "", "Money is kept in cents.\nNever in floats.", section=Kept.DECISION),
        Lesson("3", day, "src/b.ts", "At most 400 lines.", section=Kept.CONSTRAINT),
    ]
    text = render_agent_md(kept)
    assert text == (
        "## Lesson Learned (2026-02-21)\n\n**File:** src/a.ts\n**Problems:**\nerror TS2322\n\n"
        "## Architectural Decision (2026-02-21)\n\n**File:** \n**Decision:**\nMoney is kept in cents.\n"
        "Never in floats.\n\n"
        "## Constraint (2026-02-21)\n\n**File:** src/b.ts\n**Constraint:**\nAt most 400 lines.\n\n"
    )
    read, _ = parse_agent_md(text)
    assert [(one.section, one.file, one.problems) for one in read] == [
        (one.section, one.file, one.problems) for one in kept
    ]
    assert {one.source for one in read} == {LessonSource.IMPORT}
    assert parse_agent_md("## Constraint (2026-02-21)\n**Problems:**\nnot its label\n")[0] == []


def test_agent_md_as_people_write_it_is_read():
    text = (
        "# Rules\n\n## Lesson Learned (2026-02-21)\n**File:** a.ts\n**Problems:**\nbad\nworse\n\n"
        "## Lesson Learned (2026-02-30)\n**Problems:**\nno such day\n\n## Lesson Learned (2026-02-22)\n**File:** b.ts\n\n"
        "## Other\n**Problems:**\nnot a lesson\n## Lesson Learned (2026-02-23)\r\n**Problems:** on one line\r\n"
    )
    found = [(one.file, one.problems, one.learned_on.isoformat()) for one in parse_agent_md(text)[0]]
    assert found == [("a.ts", "bad\nworse", "2026-02-21"), ("", "on one line", "2026-02-23")]
