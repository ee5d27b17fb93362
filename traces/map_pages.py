"""The map and the page of one file."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from controlplane.access import MemberRequest, member_page
from traces.describing import seal_of
from traces.entries import newest_hashes
from traces.filemap import Touch, intents_of, map_sections, touches
from traces.interchange.intent_map import write_map
from traces.known_intents import KnownIntent, known_intents
from traces.matrix import FileView, file_views, is_open, overlaps_of, owning_pattern, rows_of
from traces.models import TraceFile

ANSWERS_MOST = 50
GAPS_MOST = 20
ROWS = 100


@require_safe
@member_page()
def intent_map(request: MemberRequest) -> HttpResponse:
    """Files by intents, or intent_map.md. 2 queries, whatever the size of the tree."""
    workspace_id = request.workspace.pk
    if request.GET.get("format") == "markdown":
        text = write_map(map_sections(workspace_id))
        headers = {"Content-Disposition": 'attachment; filename="intent_map.md"'}
        return HttpResponse(text.encode(), content_type="text/markdown; charset=utf-8", headers=headers)
    touched = touches(workspace_id)
    intents = _columns(known_intents(workspace_id), touched)
    files = file_views(touched, intents)
    question = request.GET.get("q", "").strip()
    owned = sum(bool(file.owners) for file in files)
    context = {
        "matrix": {
            "intents": [{"id": one.intent_id, "name": one.name} for one in intents],
            "rows": rows_of(files),
        },
        "files": len(files),
        "open_intents": sum(is_open(one) for one in intents),
        "owned_percent": round(100 * owned / len(files)) if files else None,
        "q": question,
        "answers": _answers(question, files, intents) if question else [],
        "overlaps": overlaps_of(intents, files),
        "unowned": _gaps(files),
        "outside": _outside(files, intents),
    }
    return render(request, "traces/map.html", context)


@require_safe
@member_page()
def file_page(request: MemberRequest, path: str) -> HttpResponse:
    """One file: its intents and its changes. 6 queries."""
    workspace_id = request.workspace.pk
    known = known_intents(workspace_id)
    touched = {touch.intent_id: touch for touch in intents_of(workspace_id, path)}
    intents = [
        view for one in known.values() if (view := _intent_view(one, path, touched.get(one.intent_id)))
    ]
    if not touched and not intents:
        raise Http404
    start = _start(request)
    changes = TraceFile.objects.filter(workspace_id=workspace_id, path=path).select_related("entry__leaf")
    found = list(changes.prefetch_related("ranges").order_by("-pk")[start : start + ROWS + 1])
    context = {
        "path": path,
        "known_hash": newest_hashes(workspace_id, [path]).get(path, ""),
        "intents": intents,
        "changes": [_change(row) for row in found[:ROWS]],
        "older_url": f"?from={start + ROWS}" if len(found) > ROWS else None,
        "newer_url": f"?from={max(0, start - ROWS)}" if start else None,
        "note": f"{len(found[:ROWS])} changes",
    }
    return render(request, "traces/map_file.html", context)


def _columns(known: dict[str, KnownIntent], touched: list[Touch]) -> list[KnownIntent]:
    """The intents that the map shows: those that are open, and those under which something was changed."""
    named = {touch.intent_id for touch in touched if touch.intent_id}
    shown = [one for one in known.values() if is_open(one) or one.intent_id in named]
    unknown = [KnownIntent(intent_id) for intent_id in sorted(named - known.keys())]
    return sorted(shown, key=lambda one: (not is_open(one), one.intent_id)) + unknown


def _answers(question: str, files: list[FileView], intents: list[KnownIntent]) -> list[dict[str, Any]]:
    """Files whose path, or whose intents' names, hold all words of the question."""
    words = question.casefold().split()
    found = []
    for file in files:
        mine = [one for one, cell in zip(intents, file.cells, strict=True) if cell]
        text = " ".join([file.path, *(f"{one.intent_id} {one.name}" for one in mine)]).casefold()
        if all(word in text for word in words):
            named = [{"id": one.intent_id, "name": one.name, "status": one.status} for one in mine]
            found.append({"path": file.path, "intents": named, "last": file.last, "entries": file.entries})
    return found[:ANSWERS_MOST]


def _gaps(files: list[FileView]) -> list[dict[str, Any]]:
    """Folders with touched files that no open intent owns, the fullest first."""
    folders = Counter(file.path.rpartition("/")[0] + "/" for file in files if not file.owners)
    return [
        {"path": path.removeprefix("/") or "./", "files": count}
        for path, count in folders.most_common(GAPS_MOST)
    ]


def _outside(files: list[FileView], intents: list[KnownIntent]) -> list[dict[str, Any]]:
    """What was touched outside of its intent's scope, the most often first."""
    found = [
        (cell.entries, file.path, one.intent_id)
        for file in files
        for one, cell in zip(intents, file.cells, strict=True)
        if cell and cell.state == "outside"
    ]
    most = sorted(found, key=lambda touch: -touch[0])[:GAPS_MOST]
    return [{"path": path, "intent_id": intent_id, "entries": entries} for entries, path, intent_id in most]


def _intent_view(intent: KnownIntent, path: str, touch: Touch | None) -> dict[str, Any] | None:
    pattern = owning_pattern(intent, path) if is_open(intent) else ""
    if touch is None and not pattern:
        return None
    last: datetime | None = touch.last if touch else None
    return {
        "id": intent.intent_id,
        "name": intent.name,
        "status": intent.status,
        "pattern": pattern,
        "entries": touch.entries if touch else 0,
        "last": last,
    }


def _change(row: TraceFile) -> dict[str, Any]:
    ranges = list(row.ranges.all())
    lines = f"{ranges[0].start_line}\N{EN DASH}{ranges[0].end_line}" if ranges else ""
    more = f" and {len(ranges) - 1} more" if len(ranges) > 1 else ""
    return {
        "at": row.changed_at,
        "agent": row.entry.agent,
        "session_id": row.session_id,
        "intent_id": row.intent_id,
        "lines": "deleted" if row.deleted else f"{lines}{more}",
        "mutation_class": row.mutation_class,
        "seal": asdict(seal_of(row.entry)),
    }


def _start(request: MemberRequest) -> int:
    text = request.GET.get("from", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0
