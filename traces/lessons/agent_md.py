"""Render and parse AGENT.md: lessons, decisions and constraints as Markdown blocks.

A lesson has this form:

## Lesson Learned (2026-02-21)

**File:** src/api/weather.ts
**Problems:**
Type 'string' is not assignable to type 'number'.

One about several files has a `**File:**` line for each. An `## Architectural Decision (…)` has
`**Decision:**` in the place of `**Problems:**`, a `## Constraint (…)` has `**Constraint:**`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from traces.lessons.store import Lesson, NewLesson, Section, Source


@dataclass(frozen=True, slots=True)
class BlockFormat:
    """The heading of a section's blocks, and the label before the text."""

    heading: str
    label: str


BLOCK_FORMATS = {
    Section.LESSON: BlockFormat("Lesson Learned", "Problems"),
    Section.DECISION: BlockFormat("Architectural Decision", "Decision"),
    Section.CONSTRAINT: BlockFormat("Constraint", "Constraint"),
}
_SECTIONS = {form.heading: section for section, form in BLOCK_FORMATS.items()}
_BLOCK = re.compile(
    rf"^##[ \t]+(?P<heading>{'|'.join(_SECTIONS)})[ \t]*\((?P<day>\d{{4}}-\d\d-\d\d)\)[ \t]*$", re.MULTILINE
)
_HEADING = re.compile(r"^#{1,6}[ \t]", re.MULTILINE)
_FILE = re.compile(r"^\*\*File:\*\*[ \t]*(?P<file>.*)$", re.MULTILINE)
_LABELS = {
    section: re.compile(rf"^\*\*{form.label}:\*\*[ \t]*", re.MULTILINE)
    for section, form in BLOCK_FORMATS.items()
}
# A line of text that looks like part of a block gets a backslash, which Markdown does not show.
_FRAME = re.compile(r"^(?=\\*(?:#{1,6}[ \t]|\*\*(?:File|Problems):\*\*))", re.MULTILINE)
_ESCAPED = re.compile(r"^\\(?=\\*(?:#{1,6}[ \t]|\*\*(?:File|Problems):\*\*))", re.MULTILINE)


def render_lessons(lessons: Iterable[Lesson]) -> str:
    return "".join(_render_block(lesson) for lesson in lessons)


def parse_lessons(text: str) -> list[NewLesson]:
    """Parse the blocks of a file, each with its section. Text outside of blocks is ignored."""
    text = text.replace("\r\n", "\n")
    lessons = []
    for heading in _BLOCK.finditer(text):
        next_heading = _HEADING.search(text, heading.end())
        block = text[heading.end() : next_heading.start() if next_heading else len(text)]
        lesson = _parse_block(_SECTIONS[heading["heading"]], heading["day"], block)
        if lesson:
            lessons.append(lesson)
    return lessons


def _render_block(lesson: Lesson) -> str:
    block_format = BLOCK_FORMATS[lesson.section]
    text = _FRAME.sub(r"\\", lesson.problems)
    files = "".join(f"**File:** {' '.join(file.split())}\n" for file in lesson.files or ("",))
    day = lesson.learned_on.isoformat()
    return f"## {block_format.heading} ({day})\n\n{files}**{block_format.label}:**\n{text}\n\n"


def _parse_block(section: Section, day: str, block: str) -> NewLesson | None:
    label = _LABELS[section].search(block)
    try:
        learned_on = date.fromisoformat(day)
    except ValueError:
        return None
    if label is None or not block[label.end() :].strip():
        return None
    text = _ESCAPED.sub("", block[label.end() :].strip())
    files = _FILE.findall(block, 0, label.start()) or _FILE.findall(block)[:1] or [""]
    file, *more = map(str.strip, files)
    return NewLesson(file, text, learned_on, section=section, source=Source.IMPORT, more_files=tuple(more))
