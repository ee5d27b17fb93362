"""What the page of lessons shows: one section or what is retired, a page at a time, with who carries each."""

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

ROWS = 50
MAX_NAMED = 6
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
    """`carried_by` are the first ids of intents whose prompts carry it, `more` counts the others."""

    lesson: Lesson
    carried_by: Sequence[str]
    more: int


def find_list_url(workspace_id: int, lesson_id: str) -> str | None:
    """Query and fragment that show a lesson in the list as it is now; None where it is not. 3 queries."""
    entry = filter_lessons(workspace_id).filter(entry_id=lesson_id).first()
    if entry is None:
        return None
    retired = load_retirements(workspace_id)
    shown = RETIRED if lesson_id in retired else ""
    newer = _under(workspace_id, shown, Q(entry_id__in=list(retired))).filter(pk__gt=entry.pk).count()
    return f"{_url(shown, newer // ROWS * ROWS)}#lesson-{lesson_id}"


def build_list_context(workspace: Workspace, shown: str, start: int) -> dict[str, Any]:
    """7 queries. `shown` is a section, `retired`, or "" for all in force; `start` counts from the newest."""
    shown = shown if shown in TABS else ""
    retirement_of = load_retirements(workspace.pk)
    retired = Q(entry_id__in=list(retirement_of))
    counts = _counts(workspace.pk, retired)
    entries = _under(workspace.pk, shown, retired)
    start = min(start, counts[shown])
    page = load_history(workspace.pk, entries.order_by("-pk")[start : start + ROWS], retirement_of)
    carried = list_intents_by_lesson(workspace, retirement_of)
    return {
        "rows": [_row(lesson, carried.get(lesson.lesson_id, [])) for lesson in page],
        "tabs": [
            {"label": label, "url": _url(name, 0), "count": counts[name], "current": name == shown}
            for name, label in TABS.items()
        ],
        "older_url": _url(shown, start + ROWS) if start + ROWS < counts[shown] else None,
        "newer_url": _url(shown, max(0, start - ROWS)) if start else None,
        "note": f"{start + 1} to {start + len(page)} of {counts[shown]}" if page else "",
        "none_yet": not (counts[""] or counts[RETIRED]),
    }


def _under(workspace_id: int, shown: str, retired: Q) -> QuerySet[LedgerEntry]:
    """What stands under a tab."""
    sections = [LessonSection(shown)] if shown in set(LessonSection) else list(LessonSection)
    return filter_lessons(workspace_id, sections).filter(retired if shown == RETIRED else ~retired)


def _counts(workspace_id: int, retired: Q) -> dict[str, int]:
    """How many stand under each tab. 2 queries."""
    entries = filter_lessons(workspace_id).order_by()
    in_force = dict(entries.filter(~retired).values_list("outcome").annotate(number=Count("pk")))
    counts: dict[str, int] = {section: in_force.get(OUTCOMES[section], 0) for section in LessonSection}
    return counts | {"": sum(counts.values()), RETIRED: entries.filter(retired).count()}


def _row(lesson: Lesson, carried_by: list[str]) -> LessonRow:
    return LessonRow(lesson, carried_by[:MAX_NAMED], max(0, len(carried_by) - MAX_NAMED))


def _url(shown: str, start: int) -> str:
    return "?" + urlencode({name: value for name, value in (("show", shown), ("from", start)) if value})
