"""The page of one file: who owns it, who changed which lines under which intent, where owners overlap."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from controlplane.access import MemberRequest, member_page
from controlplane.models import Workspace
from traces.blame import Author, blame, on_disk
from traces.class_checks import computed_class, disagrees
from traces.cursors import cursor_in
from traces.describing import seal_of
from traces.entries import newest_hashes
from traces.filemap import Touch, intents_of
from traces.known_intents import KnownIntent, known_intents
from traces.lineage import MOVED, Span
from traces.matrix import is_open, owning_pattern
from traces.models import TraceFile

ROWS = 100
RANGES_SHOWN = 3
SPANS_SHOWN = 200


@require_safe
@member_page()
def file_page(request: MemberRequest, path: str) -> HttpResponse:
    """Its intents, its overlaps, whose its lines are now and its changes, newest first. 10 queries."""
    workspace_id = request.workspace.pk
    known = known_intents(workspace_id)
    touched = {touch.intent_id: touch for touch in intents_of(workspace_id, path)}
    named = [*known.values(), *(KnownIntent(one) for one in sorted(touched.keys() - known.keys() - {""}))]
    intents = [view for one in named if (view := _intent_view(one, path, touched.get(one.intent_id)))]
    if not touched and not intents:
        raise Http404
    owners = [one for one in intents if one["pattern"]]
    context = {
        "path": path,
        "known_hash": newest_hashes(workspace_id, [path]).get(path, ""),
        "intents": sorted(intents, key=lambda one: (not one["pattern"], -one["entries"], one["id"])),
        "owners": owners if len(owners) > 1 else [],
        "entries": sum(touch.entries for touch in touched.values()),
        "now": _lines_now(request.workspace, path),
        **_changes(request, path),
    }
    return render(request, "traces/map_file.html", context)


def _lines_now(workspace: Workspace, path: str) -> dict[str, Any] | None:
    """Whose the lines of the file on disk are; None where it is not at hand. 1 query or none."""
    content = on_disk(workspace.local_root, path)
    if content is None:
        return None
    found = blame(workspace.pk, path, content)
    spans = found.lineage.spans
    return {
        "spans": [_span(span, found.authors) for span in spans[:SPANS_SHOWN]],
        "more": max(0, len(spans) - SPANS_SHOWN),
        "changed": len(found.lineage.changed),
        "unchecked": len(found.lineage.unchecked),
        "truncated": found.truncated,
    }


def _span(span: Span, authors: dict[int, Author]) -> dict[str, Any]:
    author = authors[span.key] if span.key is not None else None
    return {"start": span.start, "end": span.end, "moved": span.state == MOVED, "author": author}


def _changes(request: MemberRequest, path: str) -> dict[str, Any]:
    before, after = cursor_in(request, "before"), cursor_in(request, "after")
    rows = TraceFile.objects.filter(workspace_id=request.workspace.pk, path=path)
    rows = rows.select_related("entry__leaf").prefetch_related("ranges")
    if after is not None:
        found = list(rows.filter(pk__gt=after).order_by("pk")[: ROWS + 1])
        shown, older, newer = found[:ROWS][::-1], bool(found), len(found) > ROWS
    else:
        found = list((rows.filter(pk__lt=before) if before else rows).order_by("-pk")[: ROWS + 1])
        shown, older, newer = found[:ROWS], len(found) > ROWS, before is not None and bool(found)
    return {
        "changes": [_change(row) for row in shown],
        "older_url": f"?before={shown[-1].pk}" if older and shown else None,
        "newer_url": f"?after={shown[0].pk}" if newer and shown else None,
        "note": f"{len(shown)} change{'' if len(shown) == 1 else 's'}",
    }


def _intent_view(intent: KnownIntent, path: str, touch: Touch | None) -> dict[str, Any] | None:
    pattern = owning_pattern(intent, path) if is_open(intent) else ""
    if touch is None and not pattern:
        return None
    once = not pattern and not is_open(intent) and bool(owning_pattern(intent, path))
    return {
        "id": intent.intent_id,
        "name": intent.name,
        "status": intent.status,
        "pattern": pattern,
        "once": once,
        "entries": touch.entries if touch else 0,
        "last": touch.last if touch else None,
    }


def _change(row: TraceFile) -> dict[str, Any]:
    ranges = [(one.start_line, one.end_line) for one in row.ranges.all()]
    lines = ", ".join(f"{first}\N{EN DASH}{last}" for first, last in ranges[:RANGES_SHOWN])
    more = f" and {len(ranges) - RANGES_SHOWN} more" if len(ranges) > RANGES_SHOWN else ""
    return {
        "number": row.entry_id,
        "at": row.changed_at,
        "agent": row.entry.agent,
        "session_id": row.session_id,
        "intent_id": row.intent_id,
        "lines": "deleted" if row.deleted else f"{lines}{more}",
        "mutation_class": row.mutation_class,
        "computed": computed_class(row.entry),
        "disagrees": disagrees(row.entry),
        "seal": asdict(seal_of(row.entry)),
    }
