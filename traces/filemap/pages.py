"""The map of files and intents."""

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
from traces.entries.known_intents import KnownIntent, known_intents
from traces.filemap.matrix import FileView, file_views, is_open, overlaps_of
from traces.filemap.search import answers
from traces.filemap.touches import Touch, map_sections, touches
from traces.filemap.tree import rows_of, tree_of
from traces.interchange.formats.intent_map import write_map
from traces.lessons.store import lessons
from traces.local_files import walk_files

MAX_GAPS = 20
MAX_OVERLAPS = 12
COLUMNS = 8
MAX_DISK = 20_000  # files of a local root that are looked at
MAX_LESSONS = 1_000


@dataclass(frozen=True, slots=True)
class Shown:
    """What of the map is asked for: the folder that is open, the first column, what is looked for."""

    at: str = ""
    first: int = 0
    question: str = ""
    folded: bool = False

    def address(self, **changes: object) -> str:
        pairs = {"at": self.at, "cols": self.first, "q": self.question, "fold": "1" if self.folded else ""}
        return "?" + urlencode([(name, value) for name, value in (pairs | changes).items() if value])


@require_safe
@member_page()
def intent_map(request: MemberRequest) -> HttpResponse:
    """Files by intents, or intent_map.md. 5 queries, 1 more for a question, whatever the size of the tree."""
    workspace_id = request.workspace.pk
    if request.GET.get("format") == "markdown":
        text = write_map(map_sections(workspace_id))
        headers = {"Content-Disposition": 'attachment; filename="intent_map.md"'}
        return HttpResponse(text.encode(), content_type="text/markdown; charset=utf-8", headers=headers)
    with _without_collecting():
        context = _context(request, _shown(request))
    return render(request, "traces/map.html", context)


def _context(request: MemberRequest, shown: Shown) -> dict[str, Any]:
    workspace_id = request.workspace.pk
    touched = touches(workspace_id)
    intents = _columns(known_intents(workspace_id), touched)
    root = request.workspace.local_root
    on_disk = list(islice(walk_files(root), MAX_DISK)) if root else []
    files = file_views(touched, intents, on_disk)
    found = (
        answers(shown.question, files, intents, lessons(workspace_id, most=MAX_LESSONS))
        if shown.question
        else []
    )
    overlaps = overlaps_of(intents, files)
    owned = sum(bool(file.owners) for file in files)
    return {
        "matrix": _matrix(shown, files, intents),
        "files": len(files),
        "open_intents": sum(map(is_open, intents)),
        "owned_percent": round(100 * owned / len(files)) if files else None,
        "q": shown.question,
        "answers": found,
        "overlaps": overlaps[:MAX_OVERLAPS],
        "pairs": len(overlaps),
        "unowned": _gaps(files),
        "unowned_files": len(files) - owned,
        "outside": _outside(files),
    }


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Tens of thousands of small values are made at once, all of them needed: looking for garbage meanwhile
    would take half of the time. Where another thread switches it on again, only speed is lost.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _shown(request: MemberRequest) -> Shown:
    query = request.GET
    first = query.get("cols", "")
    return Shown(
        at=query.get("at", "").replace("\x00", "")[:1000],
        first=int(first) if first.isascii() and first.isdigit() and len(first) < 6 else 0,
        question=query.get("q", "").replace("\x00", "").strip()[:200],
        folded=query.get("fold") == "1",
    )


def _matrix(shown: Shown, files: Sequence[FileView], intents: Sequence[KnownIntent]) -> dict[str, Any]:
    first = shown.first if shown.first < len(intents) else 0
    columns = intents[first : first + COLUMNS]
    rows, left_out = rows_of(
        tree_of(files), [one.intent_id for one in columns], shown.at, unfold=not shown.folded
    )
    return {
        "intents": [{"id": one.intent_id, "name": one.name, "status": one.status} for one in columns],
        "rows": [(row, shown.address(at=_toggled(row.path, is_open=row.is_open), fold="1")) for row in rows],
        "left_out": left_out,
        "at": shown.at.strip("/"),
        "top_url": shown.address(at="", fold=""),
        "fold_url": shown.address(at="", fold="1"),
        "first": first + 1,
        "last": first + len(columns),
        "total": len(intents),
        "earlier_url": shown.address(cols=max(0, first - COLUMNS)) if first else None,
        "later_url": shown.address(cols=first + COLUMNS) if first + COLUMNS < len(intents) else None,
    }


def _toggled(path: str, *, is_open: bool) -> str:
    """The folder that is open after a click on this one: itself, or when it was open, the one above it."""
    folder = path.rstrip("/")
    return folder.rpartition("/")[0] if is_open else folder


def _columns(known: dict[str, KnownIntent], touched: Iterable[Touch]) -> list[KnownIntent]:
    """The intents that the map shows: those that are open, and those under which something was changed."""
    entries = Counter[str]()
    for touch in touched:
        entries[touch.intent_id] += touch.entries
    named = entries.keys() - {""}
    shown = [one for one in known.values() if is_open(one) or one.intent_id in named]
    unknown = [KnownIntent(intent_id) for intent_id in sorted(named - known.keys())]
    return sorted(shown, key=lambda one: (not is_open(one), -entries[one.intent_id], one.intent_id)) + unknown


def _gaps(files: Iterable[FileView]) -> list[dict[str, Any]]:
    """Folders with files that no open intent owns, the fullest first; how many of them were changed."""
    unowned = [(file.path.rpartition("/")[0] + "/", bool(file.entries)) for file in files if not file.owners]
    folders, changed = (
        Counter(path for path, _ in unowned),
        Counter(path for path, touched in unowned if touched),
    )
    return [
        {"path": path.removeprefix("/") or "./", "files": count, "changed": changed[path]}
        for path, count in folders.most_common(MAX_GAPS)
    ]


def _outside(files: Iterable[FileView]) -> list[dict[str, Any]]:
    """What was touched outside of its intent's scope, the most often first."""
    found = [
        (cell.entries, file.path, intent_id)
        for file in files
        for intent_id, cell in file.cells.items()
        if cell.state == "outside"
    ]
    most = sorted(found, key=lambda touch: -touch[0])[:MAX_GAPS]
    return [{"path": path, "intent_id": intent_id, "entries": entries} for entries, path, intent_id in most]
