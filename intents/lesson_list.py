"""What the page of lessons shows: one section or what is retired, a page at a time, with who carries each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from intents.carrying import carrying_intents
from traces.lessons import Lesson, Section, lesson_book

ROWS = 50
NAMED_MOST = 6
RETIRED = "retired"
TABS = {
    "": "In force",
    Section.LESSON: "Lessons",
    Section.DECISION: "Decisions",
    Section.CONSTRAINT: "Constraints",
    RETIRED: "Retired",
}


@dataclass(frozen=True, slots=True)
class LessonRow:
    """`carried_by` are the first ids of intents whose prompts carry it, `more` counts the others."""

    lesson: Lesson
    carried_by: Sequence[str]
    more: int


def list_context(workspace_id: int, shown: str, start: int) -> dict[str, Any]:
    """4 queries. `shown` is a section, `retired`, or "" for all in force; `start` counts from the newest."""
    book = lesson_book(workspace_id)
    in_force = [lesson for lesson in book if not lesson.retired]
    parts: dict[str, list[Lesson]] = {"": in_force, RETIRED: [lesson for lesson in book if lesson.retired]}
    parts |= {section: [one for one in in_force if one.section == section] for section in Section}
    shown = shown if shown in parts else ""
    start = min(start, len(parts[shown]))
    page = parts[shown][start : start + ROWS]
    carried = carrying_intents(workspace_id, in_force)
    return {
        "rows": [_row(lesson, carried.get(lesson.lesson_id, [])) for lesson in page],
        "tabs": [
            {"label": label, "url": _url(name, 0), "count": len(parts[name]), "current": name == shown}
            for name, label in TABS.items()
        ],
        "older_url": _url(shown, start + ROWS) if start + ROWS < len(parts[shown]) else None,
        "newer_url": _url(shown, max(0, start - ROWS)) if start else None,
        "note": f"{start + 1} to {start + len(page)} of {len(parts[shown])}" if page else "",
        "none_yet": not book,
    }


def _row(lesson: Lesson, carried_by: list[str]) -> LessonRow:
    return LessonRow(lesson, carried_by[:NAMED_MOST], max(0, len(carried_by) - NAMED_MOST))


def _url(shown: str, start: int) -> str:
    return "?" + urlencode({name: value for name, value in (("show", shown), ("from", start)) if value})
