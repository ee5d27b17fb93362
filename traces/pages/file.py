"""The page of one file: its owners, its line origins by intent, its changes and what was attempted."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from controlplane.shared.access import MemberRequest, member_page
from traces.blame.current_lines import build_current_lines
from traces.browser.search import load_entries
from traces.counts.counters import is_counting, list_uncounted
from traces.cursors import cursor_in
from traces.entries.known_intents import KnownIntent, load_known_intents
from traces.entries.mutation_class_check import has_class_mismatch, read_computed_class
from traces.filemap.matrix import find_owning_pattern, is_open
from traces.filemap.symbols import find_newest_content
from traces.filemap.touches import Touch, list_file_touches
from traces.models import TraceFile
from traces.search_index.lookup import list_attempts
from traces.timeline.describe_entries import find_seal_state
from traces.timeline.held_calls import describe_folded

PAGE_SIZE = 100
MAX_RANGES = 3
MAX_ATTEMPTS = 20  # on the page; the trace list has all
MAX_ATTEMPT_ENTRIES = 4 * MAX_ATTEMPTS  # a held call has several entries


@require_safe
@member_page()
def file_page(request: MemberRequest, path: str) -> HttpResponse:
    """Its intents, its overlaps, whose its lines are now, its changes and attempts, newest first. 19 queries
    at most, 1 more for a file that was deleted.

    The page holds lines against recorded hashes and fetches `?fragment=lines`, which follows them through the
    repository as well (1 query); `?history=1` is the page with both, for who runs no scripts.
    """
    workspace_id = request.workspace.pk
    if request.GET.get("fragment") == "lines":
        return render(
            request,
            "traces/_lines_now.html",
            {"now": build_current_lines(request.workspace, path, with_history=True)},
        )
    known_hash, symbols = find_newest_content(workspace_id, path)
    with_history, deleted = request.GET.get("history") == "1", known_hash == ""
    now = build_current_lines(request.workspace, path, with_history=with_history, deleted=deleted)
    known_intents = load_known_intents(workspace_id)
    uncounted = list_uncounted(workspace_id)
    touched = {touch.intent_id: touch for touch in list_file_touches(workspace_id, path, uncounted)}
    all_intents = [
        *known_intents.values(),
        *(KnownIntent(one) for one in sorted(touched.keys() - known_intents.keys() - {""})),
    ]
    intents = [
        view for one in all_intents if (view := _build_intent_view(one, path, touched.get(one.intent_id)))
    ]
    attempts = _load_attempts(workspace_id, path)
    changes = _load_changes(request, path)
    is_on_disk = bool(now and (now["there"] or now["gone"]))
    if not (touched or intents or attempts or is_on_disk or changes["changes"]):
        raise Http404
    owners = [one for one in intents if one["pattern"]]
    context = {
        "path": path,
        "known_hash": known_hash or "",
        "intents": sorted(intents, key=lambda one: (not one["pattern"], -one["entries"], one["id"])),
        "symbols": symbols,
        "owners": owners if len(owners) > 1 else [],
        "entries": sum(touch.entries for touch in touched.values()),
        "now": now,
        "attempts": attempts[:MAX_ATTEMPTS],
        "more_attempts": len(attempts) > MAX_ATTEMPTS,
        "is_counting": is_counting(uncounted),
        **changes,
    }
    return render(request, "traces/map_file.html", context)


def _load_attempts(workspace_id: int, path: str) -> list[dict[str, Any]]:
    """Return the newest held and denied calls on a file, newest first, each with what became of it."""
    numbers = list_attempts(workspace_id, path, MAX_ATTEMPT_ENTRIES)
    entries = {entry.pk: entry for entry in load_entries(numbers)}
    rows = describe_folded([entries[number] for number in reversed(numbers) if number in entries])
    return [
        {"row": row, "agent": entry.agent, "session_id": entry.session_id, "intent_id": entry.intent_id}
        for row in reversed(rows)
        for entry in [entries[row.number]]
    ]


def _load_changes(request: MemberRequest, path: str) -> dict[str, Any]:
    before, after = cursor_in(request, "before"), cursor_in(request, "after")
    rows = TraceFile.objects.filter(workspace_id=request.workspace.pk, path=path)
    rows = rows.select_related("entry__leaf").prefetch_related("ranges").defer("symbols")
    if after is not None:
        page = list(rows.filter(pk__gt=after).order_by("pk")[: PAGE_SIZE + 1])
        shown, older, newer = page[:PAGE_SIZE][::-1], bool(page), len(page) > PAGE_SIZE
    else:
        page = list((rows.filter(pk__lt=before) if before else rows).order_by("-pk")[: PAGE_SIZE + 1])
        shown, older, newer = page[:PAGE_SIZE], len(page) > PAGE_SIZE, before is not None and bool(page)
    return {
        "changes": [_build_change(row) for row in shown],
        "older_url": f"?before={shown[-1].pk}" if older and shown else None,
        "newer_url": f"?after={shown[0].pk}" if newer and shown else None,
        "note": f"{len(shown)} change{'' if len(shown) == 1 else 's'}",
    }


def _build_intent_view(intent: KnownIntent, path: str, touch: Touch | None) -> dict[str, Any] | None:
    pattern = find_owning_pattern(intent, path) if is_open(intent) else ""
    if touch is None and not pattern:
        return None
    once = not pattern and not is_open(intent) and bool(find_owning_pattern(intent, path))
    return {
        "id": intent.intent_id,
        "name": intent.name,
        "status": intent.status,
        "pattern": pattern,
        "once": once,
        "entries": touch.entries if touch else 0,
        "last": touch.last_changed if touch else None,
    }


def _build_change(row: TraceFile) -> dict[str, Any]:
    ranges = [(line_range.start_line, line_range.end_line) for line_range in row.ranges.all()]
    lines = ", ".join(f"{first}\N{EN DASH}{last}" for first, last in ranges[:MAX_RANGES])
    suffix = f" and {len(ranges) - MAX_RANGES} more" if len(ranges) > MAX_RANGES else ""
    return {
        "number": row.entry_id,
        "at": row.changed_at,
        "agent": row.entry.agent,
        "session_id": row.session_id,
        "intent_id": row.intent_id,
        "lines": "deleted" if row.deleted else f"{lines}{suffix}",
        "mutation_class": row.entry.outcome,
        "computed": read_computed_class(row.entry),
        "disagrees": has_class_mismatch(row.entry),
        "seal": asdict(find_seal_state(row.entry)),
    }
