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

from traces.lessons.other_forms import MAX_UNREAD_LINES, UnreadLine, parse_other_forms
from traces.lessons.store import Lesson, LessonSection, LessonSource, NewLesson


@dataclass(frozen=True, slots=True)
class BlockFormat:
    """The heading of a section's blocks, and the label before the text."""

    heading: str
    label: str


BLOCK_FORMATS = {
    LessonSection.LESSON: BlockFormat("Lesson Learned", "Problems"),
    LessonSection.DECISION: BlockFormat("Architectural Decision", "Decision"),
    LessonSection.CONSTRAINT: BlockFormat("Constraint", "Constraint"),
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
# A line of a text that looks like the frame of a block gets a backslash, which Markdown does not show.
_FRAME = re.compile(r"^(?=\\*(?:#{1,6}[ \t]|\*\*(?:File|Problems):\*\*))", re.MULTILINE)
_ESCAPED = re.compile(r"^\\(?=\\*(?:#{1,6}[ \t]|\*\*(?:File|Problems):\*\*))", re.MULTILINE)


def render_agent_md(lessons: Iterable[Lesson]) -> str:
    return "".join(_render_block(lesson) for lesson in lessons)


def parse_agent_md(text: str) -> tuple[list[NewLesson], list[UnreadLine]]:
    """Return the lessons of a file, and the lines of its sections of lessons that are in none.

    Blocks of our own form come first, then those of `other_forms`. What stands outside is left alone.
    """
    text = text.replace("\r\n", "\n")
    lessons: list[NewLesson] = []
    unread: list[UnreadLine] = []
    rest: list[str] = []
    position = 0
    for heading in _BLOCK.finditer(text):
        following = _HEADING.search(text, heading.end())
        end = following.start() if following else len(text)
        lesson = _parse_block(_SECTIONS[heading["heading"]], heading["day"], text[heading.end() : end])
        if lesson:
            lessons.append(lesson)
        else:
            unread.append(UnreadLine(text.count("\n", 0, heading.start()) + 1, heading[0]))
        # Line feeds in the place of the block keep the numbers of the lines after it.
        rest += [text[position : heading.start()], "\n" * text.count("\n", heading.start(), end)]
        position = end
    others, lines = parse_other_forms("".join([*rest, text[position:]]))
    return lessons + others, sorted(unread[:MAX_UNREAD_LINES] + lines, key=lambda one: one.line)


def _render_block(lesson: Lesson) -> str:
    form = BLOCK_FORMATS[lesson.section]
    text = _FRAME.sub(r"\\", lesson.problems)
    files = "".join(f"**File:** {' '.join(file.split())}\n" for file in lesson.files or ("",))
    day = lesson.learned_on.isoformat()
    return f"## {form.heading} ({day})\n\n{files}**{form.label}:**\n{text}\n\n"


def _parse_block(section: LessonSection, day: str, block: str) -> NewLesson | None:
    label = _LABELS[section].search(block)
    try:
        learned_on = date.fromisoformat(day)
    except ValueError:
        return None
    if label is None or not block[label.end() :].strip():
        return None
    text = _ESCAPED.sub("", block[label.end() :].strip())
    files = _FILE.findall(block, 0, label.start()) or _FILE.findall(block)[:1] or [""]
    file, *more_files = map(str.strip, files)
    return NewLesson(
        file, text, learned_on, section=section, source=LessonSource.IMPORT, more_files=tuple(more_files)
    )
