"""The page of lessons."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from controlplane.access import MemberRequest, member_page
from traces.cursors import cursor_in
from traces.interchange.agent_md import write_lessons
from traces.lessons import Lesson, lessons

ROWS = 100


@require_safe
@member_page()
def lesson_list(request: MemberRequest) -> HttpResponse:
    """Lessons, newest first, or AGENT.md. 1 query."""
    known = lessons(request.workspace.pk)
    if request.GET.get("format") == "markdown":
        headers = {"Content-Disposition": 'attachment; filename="AGENT.md"'}
        return HttpResponse(
            write_lessons(known).encode(), content_type="text/markdown; charset=utf-8", headers=headers
        )
    newest = known[::-1]
    start = min(cursor_in(request, "from") or 0, len(newest))
    shown = newest[start : start + ROWS]
    context = {
        "lessons": [_lesson_row(lesson) for lesson in shown],
        "download_url": "?format=markdown",
        "older_url": f"?from={start + ROWS}" if start + ROWS < len(newest) else None,
        "newer_url": f"?from={max(0, start - ROWS)}" if start else None,
        "note": f"{start + 1} to {start + len(shown)} of {len(newest)}" if shown else "",
    }
    return render(request, "lessons/lesson_list.html", context)


def _lesson_row(lesson: Lesson) -> dict[str, Any]:
    return {
        "id": lesson.lesson_id,
        "date": lesson.learned_on,
        "path": lesson.file,
        "problems": [],
        "text": lesson.problems,
        "session_id": lesson.session_id,
        "intent_id": lesson.intent_id,
    }
