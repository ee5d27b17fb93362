"""Serve the map of files and intents."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from controlplane.shared.access import MemberRequest, member_page
from traces.counts.counters import is_counting, list_uncounted
from traces.entries.known_intents import KnownIntent, load_known_intents
from traces.filemap.matrix import MapFile, build_map_files, is_open, list_overlaps
from traces.filemap.search import search_files
from traces.filemap.touches import Touch, build_map_sections, load_touches
from traces.filemap.tree import build_rows, build_tree
from traces.interchange.formats.intent_map import render_intent_map
from traces.lessons.store import load_lessons
from traces.local_files import walk_files

MAX_LISTED = 20
MAX_OVERLAPS = 12
COLUMNS_PER_PAGE = 8
MAX_DISK_FILES = 20_000  # files of a local root that are listed
MAX_LESSONS = 1_000


@dataclass(frozen=True, slots=True)
class MapParams:
    """The query parameters of the map: the open directory, the first column, the search."""

    directory: str = ""
    first_column: int = 0
    query: str = ""
    is_folded: bool = False

    def to_query_string(self, **changes: object) -> str:
        pairs = {
            "at": self.directory,
            "cols": self.first_column,
            "q": self.query,
            "fold": "1" if self.is_folded else "",
        }
        return "?" + urlencode([(name, value) for name, value in (pairs | changes).items() if value])


@require_safe
@member_page()
def intent_map(request: MemberRequest) -> HttpResponse:
    """Show files by intents, or return intent_map.md.

    5 queries, 1 more to search, whatever the size of the tree.
    """
    workspace_id = request.workspace.pk
    if request.GET.get("format") == "markdown":
        text = render_intent_map(build_map_sections(workspace_id))
        headers = {"Content-Disposition": 'attachment; filename="intent_map.md"'}
        return HttpResponse(text.encode(), content_type="text/markdown; charset=utf-8", headers=headers)
    with _pause_garbage_collection():
        context = _build_context(request, _parse_params(request))
    return render(request, "traces/map.html", context)


def _build_context(request: MemberRequest, params: MapParams) -> dict[str, Any]:
    workspace_id = request.workspace.pk
    uncounted = list_uncounted(workspace_id)
    touches = load_touches(workspace_id, uncounted=uncounted)
    intents = _select_columns(load_known_intents(workspace_id), touches)
    root = request.workspace.local_root
    on_disk = list(islice(walk_files(root), MAX_DISK_FILES)) if root else []
    files = build_map_files(touches, intents, on_disk)
    results = (
        search_files(params.query, files, intents, load_lessons(workspace_id, limit=MAX_LESSONS))
        if params.query
        else []
    )
    overlaps = list_overlaps(intents, files)
    owned = sum(bool(file.owners) for file in files)
    return {
        "matrix": _build_matrix(params, files, intents),
        "is_counting": is_counting(uncounted),
        "files": len(files),
        "open_intents": sum(map(is_open, intents)),
        "owned_percent": round(100 * owned / len(files)) if files else None,
        "q": params.query,
        "results": results,
        "overlaps": overlaps[:MAX_OVERLAPS],
        "pairs": len(overlaps),
        "unowned": _list_unowned(files),
        "unowned_files": len(files) - owned,
        "outside": _list_outside_scope(files),
    }


@contextmanager
def _pause_garbage_collection() -> Iterator[None]:
    """Build tens of thousands of small objects without the garbage collector.

    All of them are needed, and looking for garbage meanwhile would take half of the time. If another thread
    switches it on again, only speed is lost.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _parse_params(request: MemberRequest) -> MapParams:
    query = request.GET
    first = query.get("cols", "")
    return MapParams(
        directory=query.get("at", "").replace("\x00", "")[:1000],
        first_column=int(first) if first.isascii() and first.isdigit() and len(first) < 6 else 0,
        query=query.get("q", "").replace("\x00", "").strip()[:200],
        is_folded=query.get("fold") == "1",
    )


def _build_matrix(
    params: MapParams, files: Sequence[MapFile], intents: Sequence[KnownIntent]
) -> dict[str, Any]:
    first = params.first_column if params.first_column < len(intents) else 0
    columns = intents[first : first + COLUMNS_PER_PAGE]
    rows, left_out = build_rows(
        build_tree(files),
        [intent.intent_id for intent in columns],
        params.directory,
        unfold=not params.is_folded,
    )
    return {
        "intents": [
            {"id": intent.intent_id, "name": intent.name, "status": intent.status} for intent in columns
        ],
        "rows": [
            (row, params.to_query_string(at=_toggle(row.path, is_open=row.is_open), fold="1")) for row in rows
        ],
        "left_out": left_out,
        "at": params.directory.strip("/"),
        "top_url": params.to_query_string(at="", fold=""),
        "fold_url": params.to_query_string(at="", fold="1"),
        "first": first + 1,
        "last": first + len(columns),
        "total": len(intents),
        "earlier_url": params.to_query_string(cols=max(0, first - COLUMNS_PER_PAGE)) if first else None,
        "later_url": params.to_query_string(cols=first + COLUMNS_PER_PAGE)
        if first + COLUMNS_PER_PAGE < len(intents)
        else None,
    }


def _toggle(path: str, *, is_open: bool) -> str:
    """Return the directory that a click opens: this one, or its parent if this one is open."""
    directory = path.rstrip("/")
    return directory.rpartition("/")[0] if is_open else directory


def _select_columns(intents: dict[str, KnownIntent], touches: Iterable[Touch]) -> list[KnownIntent]:
    """Return the intents that the map shows: open ones, and those under which files were changed."""
    entries = Counter[str]()
    for touch in touches:
        entries[touch.intent_id] += touch.entries
    touched_ids = entries.keys() - {""}
    visible = [intent for intent in intents.values() if is_open(intent) or intent.intent_id in touched_ids]
    unknown = [KnownIntent(intent_id) for intent_id in sorted(touched_ids - intents.keys())]
    return (
        sorted(
            visible, key=lambda intent: (not is_open(intent), -entries[intent.intent_id], intent.intent_id)
        )
        + unknown
    )


def _list_unowned(files: Iterable[MapFile]) -> list[dict[str, Any]]:
    """Return directories with files that no open intent owns, fullest first, and how many of them changed."""
    unowned = [(file.path.rpartition("/")[0] + "/", bool(file.entries)) for file in files if not file.owners]
    counts, changed = (
        Counter(path for path, _ in unowned),
        Counter(path for path, is_changed in unowned if is_changed),
    )
    return [
        {"path": path.removeprefix("/") or "./", "files": count, "changed": changed[path]}
        for path, count in counts.most_common(MAX_LISTED)
    ]


def _list_outside_scope(files: Iterable[MapFile]) -> list[dict[str, Any]]:
    """Return files touched outside of the scope of the intent, most often first."""
    touches = [
        (cell.entries, file.path, intent_id)
        for file in files
        for intent_id, cell in file.cells.items()
        if cell.state == "outside"
    ]
    largest = sorted(touches, key=lambda touch: -touch[0])[:MAX_LISTED]
    return [
        {"path": path, "intent_id": intent_id, "entries": entries} for entries, path, intent_id in largest
    ]
