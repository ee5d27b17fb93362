"""AGENT.md: lessons, decisions and constraints as blocks of Markdown, out and in.

A lesson has the seeds' form:

## Lesson Learned (2026-02-21)

**File:** src/api/weather.ts
**Problems:**
Type 'string' is not assignable to type 'number'.

One about several files has a line `**File:**` for each. An `## Architectural Decision (…)` has
`**Decision:**` in the place of `**Problems:**`, a `## Constraint (…)` has `**Constraint:**`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from traces.lessons.store import Lesson, NewLesson, Section, Source


@dataclass(frozen=True, slots=True)
class Form:
    """The heading of a section's blocks, and the label before the text."""

    heading: str
    label: str


FORMS = {
    Section.LESSON: Form("Lesson Learned", "Problems"),
    Section.DECISION: Form("Architectural Decision", "Decision"),
    Section.CONSTRAINT: Form("Constraint", "Constraint"),
}
_SECTIONS = {form.heading: section for section, form in FORMS.items()}
_BLOCK = re.compile(
    rf"^##[ \t]+(?P<heading>{'|'.join(_SECTIONS)})[ \t]*\((?P<day>\d{{4}}-\d\d-\d\d)\)[ \t]*$", re.MULTILINE
)
_HEADING = re.compile(r"^#{1,6}[ \t]", re.MULTILINE)
_FILE = re.compile(r"^\*\*File:\*\*[ \t]*(?P<file>.*)$", re.MULTILINE)
_LABELS = {
    section: re.compile(rf"^\*\*{form.label}:\*\*[ \t]*", re.MULTILINE) for section, form in FORMS.items()
}
# A line of a text that looks like the frame of a block gets a backslash, which Markdown does not show.
_FRAME = re.compile(r"^(?=\\*(?:#{1,6}[ \t]|\*\*(?:File|Problems):\*\*))", re.MULTILINE)
_ESCAPED = re.compile(r"^\\(?=\\*(?:#{1,6}[ \t]|\*\*(?:File|Problems):\*\*))", re.MULTILINE)


def write_lessons(lessons: Iterable[Lesson]) -> str:
    return "".join(_block(lesson) for lesson in lessons)


def read_lessons(text: str) -> list[NewLesson]:
    """The blocks of a file, each with its section. What stands outside of them is left alone."""
    text = text.replace("\r\n", "\n")
    found = []
    for heading in _BLOCK.finditer(text):
        following = _HEADING.search(text, heading.end())
        block = text[heading.end() : following.start() if following else len(text)]
        lesson = _lesson(_SECTIONS[heading["heading"]], heading["day"], block)
        if lesson:
            found.append(lesson)
    return found


def _block(lesson: Lesson) -> str:
    form = FORMS[lesson.section]
    text = _FRAME.sub(r"\\", lesson.problems)
    files = "".join(f"**File:** {' '.join(file.split())}\n" for file in lesson.files or ("",))
    day = lesson.learned_on.isoformat()
    return f"## {form.heading} ({day})\n\n{files}**{form.label}:**\n{text}\n\n"


def _lesson(section: Section, day: str, block: str) -> NewLesson | None:
    label = _LABELS[section].search(block)
    try:
        learned_on = date.fromisoformat(day)
    except ValueError:
        return None
    if label is None or not block[label.end() :].strip():
        return None
    text = _ESCAPED.sub("", block[label.end() :].strip())
    named = _FILE.findall(block, 0, label.start()) or _FILE.findall(block)[:1] or [""]
    file, *more = map(str.strip, named)
    return NewLesson(file, text, learned_on, section=section, source=Source.IMPORT, more_files=tuple(more))
