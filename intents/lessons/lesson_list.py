"""Build the context of the lessons page: tabs, one page of rows, and the intents that include each lesson."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Q, QuerySet

from controlplane.models import Workspace
from intents.prompts.lesson_selection import list_intents_by_lesson
from traces.lessons.store import (
    OUTCOMES,
    Lesson,
    LessonSection,
    filter_lessons,
    load_history,
    load_retirements,
)
from traces.models import LedgerEntry

PAGE_SIZE = 50
MAX_INTENT_IDS = 6
RETIRED = "retired"
TABS = {
    "": "In force",
    LessonSection.LESSON: "Lessons",
    LessonSection.DECISION: "Decisions",
    LessonSection.CONSTRAINT: "Constraints",
    RETIRED: "Retired",
}


@dataclass(frozen=True, slots=True)
class LessonRow:
    """`intent_ids` are the first intents whose prompts include the lesson; `more` counts the others."""

    lesson: Lesson
    intent_ids: Sequence[str]
    more: int


def find_list_url(workspace_id: int, lesson_id: str) -> str | None:
    """Return the query and fragment that show a lesson in the list; None for an unknown one. 3 queries."""
    entry = filter_lessons(workspace_id).filter(entry_id=lesson_id).first()
    if entry is None:
        return None
    retired = load_retirements(workspace_id)
    tab = RETIRED if lesson_id in retired else ""
    newer = _filter_tab(workspace_id, tab, Q(entry_id__in=list(retired))).filter(pk__gt=entry.pk).count()
    return f"{_build_url(tab, newer // PAGE_SIZE * PAGE_SIZE)}#lesson-{lesson_id}"


def build_list_context(workspace: Workspace, tab: str, start: int) -> dict[str, Any]:
    """Return what lesson_list.html needs. 7 queries.

    `tab` is a section, `retired`, or "" for all in force; `start` counts from the newest lesson.
    """
    tab = tab if tab in TABS else ""
    retirements_by_id = load_retirements(workspace.pk)
    retired = Q(entry_id__in=list(retirements_by_id))
    counts = _count_tabs(workspace.pk, retired)
    entries = _filter_tab(workspace.pk, tab, retired).order_by("-pk")
    start = min(start, counts[tab])
    page = load_history(workspace.pk, entries[start : start + PAGE_SIZE], retirements_by_id)
    intents_by_lesson = list_intents_by_lesson(workspace, retirements_by_id)
    return {
        "rows": [_build_row(lesson, intents_by_lesson.get(lesson.lesson_id, [])) for lesson in page],
        "tabs": [
            {"label": label, "url": _build_url(name, 0), "count": counts[name], "current": name == tab}
            for name, label in TABS.items()
        ],
        "older_url": _build_url(tab, start + PAGE_SIZE) if start + PAGE_SIZE < counts[tab] else None,
        "newer_url": _build_url(tab, max(0, start - PAGE_SIZE)) if start else None,
        "note": f"{start + 1} to {start + len(page)} of {counts[tab]}" if page else "",
        "none_yet": not (counts[""] or counts[RETIRED]),
    }


def _filter_tab(workspace_id: int, tab: str, retired: Q) -> QuerySet[LedgerEntry]:
    sections = [LessonSection(tab)] if tab in set(LessonSection) else list(LessonSection)
    return filter_lessons(workspace_id, sections).filter(retired if tab == RETIRED else ~retired)


def _count_tabs(workspace_id: int, retired: Q) -> dict[str, int]:
    """Return the number of lessons per tab. 2 queries."""
    entries = filter_lessons(workspace_id).order_by()
    in_force = dict(entries.filter(~retired).values_list("outcome").annotate(number=Count("pk")))
    counts: dict[str, int] = {section: in_force.get(OUTCOMES[section], 0) for section in LessonSection}
    return counts | {"": sum(counts.values()), RETIRED: entries.filter(retired).count()}


def _build_row(lesson: Lesson, intent_ids: list[str]) -> LessonRow:
    return LessonRow(lesson, intent_ids[:MAX_INTENT_IDS], max(0, len(intent_ids) - MAX_INTENT_IDS))


def _build_url(tab: str, start: int) -> str:
    return "?" + urlencode({name: value for name, value in (("show", tab), ("from", start)) if value})
