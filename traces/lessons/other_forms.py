"""Read lessons in the forms that people and other tools write into AGENT.md and CLAUDE.md.

A heading that speaks of lessons or decisions opens a section. In it, each of these is one lesson: a
subheading with the text below it, or, where no subheading has a text of its own, each bullet. A heading such
as `### [2026-02-20 14:00] DECISION` is a lesson by itself. What stands in a section and is none of these is
reported with its line, so that nobody believes it was read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date

from traces.lessons.store import MAX_FILES, LessonSection, LessonSource, NewLesson

MAX_UNREAD_LINES = 100
MAX_LINE_LENGTH = 200  # characters of a line in the report
MAX_FILES_LENGTH = 10_000  # characters of a line that names files
_HEADING = re.compile(r"^(?P<marks>#{1,6})[ \t]+(?P<title>.*)$")
# After the word stands nothing, a date, or a title behind a mark: "Decision making" is something else.
_SECTION_TITLE = re.compile(
    r"\b(?:(?P<lesson>lessons?(?:[ \t]+learned)?)|decisions?)\b"
    r"(?P<rest>[ \t]*(?:[:\-\N{EN DASH}\N{EM DASH}(\[\d].*)?)$",
    re.IGNORECASE,
)
_LESSON_LABEL = re.compile(r"^(?:[-*+][ \t]+)?\*\*lesson(?::\*\*|\*\*:)[ \t]*", re.IGNORECASE)
_DAY = re.compile(r"\[?(?P<day>\d{4}-\d\d-\d\d)(?:[T ]\d\d:\d\d\S*)?\]?")
_BULLET = re.compile(r"^[ \t]{0,3}[-*+][ \t]+")
_FILES = re.compile(
    r"^(?:[-*+][ \t]+)?\**(?:affected[ \t]+|related[ \t]+)?files?\**:\**[ \t]*(?P<files>.*)$", re.IGNORECASE
)
_PATH = re.compile(r"[\w@.~/-]*[/.][\w@./-]*\w")
_RULE = re.compile(r"^[ \t]*(?:[-*_][ \t]*){3,}$")
_BORDER = " \t-:,.\N{EN DASH}\N{EM DASH}"


@dataclass(frozen=True, slots=True)
class UnreadLine:
    """A line of a section of lessons that is in no lesson; `line` counts from 1."""

    line: int
    text: str


@dataclass(slots=True)
class _Block:
    """A heading and the lines below it, up to the next heading."""

    level: int
    title: str
    section: LessonSection | None  # None outside of lessons
    opens: bool  # this very heading speaks of lessons
    line: int
    lines: list[tuple[int, str]] = field(default_factory=list)


def parse_other_forms(text: str) -> tuple[list[NewLesson], list[UnreadLine]]:
    """Return the lessons, and the first lines that could not be read as one."""
    lessons: list[NewLesson] = []
    unread: list[UnreadLine] = []
    for block in _list_blocks(text.splitlines()):
        if block.section is None:
            continue
        read, left = _read_block(block, block.section)
        lessons += read
        unread += [UnreadLine(line, content.strip()[:MAX_LINE_LENGTH]) for line, content in left]
    return lessons, unread[:MAX_UNREAD_LINES]


def _list_blocks(lines: list[str]) -> Iterator[_Block]:
    block, section_level = _Block(0, "", None, opens=False, line=0), 0
    section: LessonSection | None = None
    in_fence = False
    for number, line in enumerate(lines, 1):
        in_fence ^= line.lstrip().startswith(("```", "~~~"))
        heading = None if in_fence else _HEADING.match(line)
        if heading is None:
            if line.strip() and not _RULE.match(line):
                block.lines.append((number, line))
            continue
        yield block
        level, title = len(heading["marks"]), heading["title"].rstrip(" \t#")
        found = _find_section(title)
        if found is not None or level <= section_level:
            section, section_level = found, level if found is not None else 0
        block = _Block(level, title, section, opens=found is not None, line=number)
    yield block


def _find_section(title: str) -> LessonSection | None:
    found = _SECTION_TITLE.search(title)
    if found is None:
        return None
    return LessonSection.LESSON if found["lesson"] else LessonSection.DECISION


def _read_block(block: _Block, section: LessonSection) -> tuple[list[NewLesson], list[tuple[int, str]]]:
    """Return (lessons, lines that are in none)."""
    day, title = _split_day(block.title)
    if block.opens and (found := _SECTION_TITLE.search(title)) is not None:
        title = found["rest"].strip(_BORDER)
    is_entry = not block.opens or day is not None or bool(re.search(r"\w", title))
    bullets = [line for line in block.lines if _BULLET.match(line[1]) and not _is_labelled(line[1])]
    if is_entry and len(bullets) < len(block.lines):
        lesson = _build_lesson(section, title, [text for _, text in block.lines], day)
        return ([lesson], []) if lesson else ([], block.lines)
    if not bullets:
        return [], block.lines
    return _read_bullets(block, section, day)


def _read_bullets(
    block: _Block, section: LessonSection, day: date | None
) -> tuple[list[NewLesson], list[tuple[int, str]]]:
    """Read each bullet, with the indented lines that go on with it, as one lesson."""
    items: list[list[str]] = []
    unread: list[tuple[int, str]] = []
    for number, text in block.lines:
        if _BULLET.match(text):
            items.append([_BULLET.sub("", text)])
        elif items and text[:1].isspace():
            items[-1].append(text.strip())
        else:
            unread.append((number, text))
    lessons = []
    for first, *more in items:
        own_day, content = _split_day(first)
        lesson = _build_lesson(section, "", [content, *more], own_day or day)
        lessons += [lesson] if lesson else []
    return lessons, unread


def _is_labelled(line: str) -> bool:
    """Return whether a bullet is one part of an entry, as `- **Issue:** …`."""
    return re.match(r"^[ \t]*[-*+][ \t]+\*\*[^*]{1,40}(?::\*\*|\*\*:)", line) is not None


def _split_day(text: str) -> tuple[date | None, str]:
    """Return the first date of a title or a bullet, and the rest of the text."""
    found = _DAY.search(text)
    if found is None:
        return None, text.strip()
    try:
        day = date.fromisoformat(found["day"])
    except ValueError:
        return None, text.strip()
    return day, f"{text[: found.start()].rstrip(_BORDER)} {text[found.end() :].lstrip(_BORDER)}".strip()


def _build_lesson(section: LessonSection, title: str, lines: list[str], day: date | None) -> NewLesson | None:
    files: list[str] = []
    texts = [title] if re.search(r"\w", title) else []
    for line in lines:
        found = _FILES.match(line.strip())
        if found is None:
            texts.append(_LESSON_LABEL.sub("", line.strip()))
        else:
            files += _PATH.findall(found["files"][:MAX_FILES_LENGTH])
    text = "\n".join(texts).strip()
    if not re.search(r"\w", text):
        return None
    file, *more = files[:MAX_FILES] or [""]
    return NewLesson(file, text, day, section=section, source=LessonSource.IMPORT, more_files=tuple(more))
