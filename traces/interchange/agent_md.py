"""AGENT.md: lessons as blocks of Markdown, in the seeds' form, out and in.

## Lesson Learned (2026-02-21)

**File:** src/api/weather.ts
**Problems:**
Type 'string' is not assignable to type 'number'.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from traces.lessons import Lesson, NewLesson

_BLOCK = re.compile(r"^##[ \t]+Lesson Learned[ \t]*\((?P<day>\d{4}-\d\d-\d\d)\)[ \t]*$", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}[ \t]", re.MULTILINE)
_FILE = re.compile(r"^\*\*File:\*\*[ \t]*(?P<file>.*)$", re.MULTILINE)
_PROBLEMS = re.compile(r"^\*\*Problems:\*\*[ \t]*", re.MULTILINE)
# A line of a problem that looks like the frame of a block gets a backslash, which Markdown does not show.
_FRAME = re.compile(r"^(?=\\*(?:#{1,6}[ \t]|\*\*(?:File|Problems):\*\*))", re.MULTILINE)
_ESCAPED = re.compile(r"^\\(?=\\*(?:#{1,6}[ \t]|\*\*(?:File|Problems):\*\*))", re.MULTILINE)


def write_lessons(lessons: Iterable[Lesson]) -> str:
    return "".join(_block(lesson) for lesson in lessons)


def read_lessons(text: str) -> list[NewLesson]:
    """The lessons of a file. What stands outside of their blocks is left alone."""
    text = text.replace("\r\n", "\n")
    found = []
    for heading in _BLOCK.finditer(text):
        following = _HEADING.search(text, heading.end())
        lesson = _lesson(heading["day"], text[heading.end() : following.start() if following else len(text)])
        if lesson:
            found.append(lesson)
    return found


def _block(lesson: Lesson) -> str:
    problems = _FRAME.sub(r"\\", lesson.problems)
    file = " ".join(lesson.file.split())
    day = lesson.learned_on.isoformat()
    return f"## Lesson Learned ({day})\n\n**File:** {file}\n**Problems:**\n{problems}\n\n"


def _lesson(day: str, block: str) -> NewLesson | None:
    problems = _PROBLEMS.search(block)
    file = _FILE.search(block)
    try:
        learned_on = date.fromisoformat(day)
    except ValueError:
        return None
    if problems is None or not block[problems.end() :].strip():
        return None
    text = _ESCAPED.sub("", block[problems.end() :].strip())
    return NewLesson(file["file"].strip() if file else "", text, learned_on)
