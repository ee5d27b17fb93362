"""Pages of the ledger. Each view asks, shapes the template's context, renders."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from controlplane.access import MemberRequest, member_page
from traces import proofs
from traces.absences import Absences
from traces.describing import Row, describe
from traces.filters import TraceFilter, entries_of, traces_of
from traces.interchange.agent_md import write_lessons
from traces.interchange.exporting import orchestration_lines
from traces.lessons import Lesson, lessons
from traces.models import Kind, LedgerEntry
from traces.sealing import waiting

ROWS = 100
SHOWN = (Kind.TRACE, Kind.DECISION, Kind.APPROVAL)
FILTERS = ("intent", "path", "session")


@require_safe
@member_page()
def trace_list(request: MemberRequest) -> HttpResponse:
    """Decisions, approvals and traces, newest first. 7 queries, and 2 more where bodies are missing."""
    filters, wanted = _wanted(request)
    entries = entries_of(request.workspace.pk, wanted, SHOWN).prefetch_related("files")
    before, after = _cursor(request, "before"), _cursor(request, "after")
    rows, older, newer = _page(entries, before, after)
    absences = Absences(request.workspace.pk)
    context = {
        "entries": [_listed(entry, absences) for entry in rows],
        "filters": filters,
        "tokens": _tokens(filters),
        "head": _head(request.workspace.pk),
        "older_url": _with(filters, before=rows[-1].pk) if older else None,
        "newer_url": _with(filters, after=rows[0].pk) if newer else None,
        "note": f"{len(rows)} entries",
        "export_url": f"{reverse('traces:export', args=[request.workspace.slug])}{_with(filters)}",
    }
    return render(request, "traces/trace_list.html", context)


@require_safe
@member_page()
def trace_export(request: MemberRequest) -> HttpResponseBase:
    """The trace entries that fit the filters of the list, as agent_trace.jsonl."""
    _, wanted = _wanted(request)
    lines = orchestration_lines(traces_of(request.workspace.pk, wanted))
    headers = {"Content-Disposition": 'attachment; filename="agent_trace.jsonl"'}
    return StreamingHttpResponse(lines, content_type="application/jsonl", headers=headers)


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
    start = min(_cursor(request, "from") or 0, len(newest))
    shown = newest[start : start + ROWS]
    context = {
        "lessons": [_lesson_row(lesson) for lesson in shown],
        "download_url": "?format=markdown",
        "older_url": f"?from={start + ROWS}" if start + ROWS < len(newest) else None,
        "newer_url": f"?from={max(0, start - ROWS)}" if start else None,
        "note": f"{start + 1} to {start + len(shown)} of {len(newest)}" if shown else "",
    }
    return render(request, "lessons/lesson_list.html", context)


def _wanted(request: MemberRequest) -> tuple[dict[str, str], TraceFilter]:
    """The filters as they stand in the address, and what they mean."""
    filters = {name: request.GET.get(name, "").replace("\x00", "").strip() for name in ("q", *FILTERS)}
    return filters, TraceFilter(filters["intent"], filters["path"], filters["session"], text=filters["q"])


def _page(
    entries: QuerySet[LedgerEntry], before: int | None, after: int | None
) -> tuple[list[LedgerEntry], bool, bool]:
    """(entries, newest first; whether there are older ones; whether there are newer ones)."""
    if after is not None:
        found = list(entries.filter(pk__gt=after).order_by("pk")[: ROWS + 1])
        return found[:ROWS][::-1], bool(found), len(found) > ROWS
    if before is not None:
        entries = entries.filter(pk__lt=before)
    found = list(entries.order_by("-pk")[: ROWS + 1])
    return found[:ROWS], len(found) > ROWS, before is not None and bool(found)


def _listed(entry: LedgerEntry, absences: Absences) -> dict[str, Any]:
    row: Row = describe(entry, absences)
    verb = "" if row.kind == "trace" else f"{row.verb} "
    return {
        "number": entry.pk,
        "at": row.at,
        "kind": entry.kind,
        "outcome": row.outcome,
        "object": row.object or row.verb,
        "object_is": row.object_is if row.object else "text",
        "note": f"{verb if row.object else ''}{row.note}",
        "lines": row.lines,
        "agent": entry.agent,
        "session_id": entry.session_id,
        "intent_id": entry.intent_id,
        "seal": row.seal,
    }


def _head(workspace_id: int) -> dict[str, int]:
    """How far the ledger is sealed; `sealed` is the highest place, as the badges number them."""
    newest = proofs.head(workspace_id)
    size = newest.size if newest else 0
    return {"size": size, "sealed": max(0, size - 1), "waiting": waiting(workspace_id)}


def _tokens(filters: dict[str, str]) -> list[dict[str, Any]]:
    return [
        {"name": name, "value": filters[name], "remove_url": _with({**filters, name: ""}), "excluded": False}
        for name in FILTERS
        if filters[name]
    ]


def _with(filters: dict[str, str], **more: int) -> str:
    """The query string of these filters, at least `?`."""
    return "?" + urlencode([(name, value) for name, value in {**filters, **more}.items() if value])


def _cursor(request: MemberRequest, name: str) -> int | None:
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


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
