"""Count which intent touched which file."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Count, Max, Q

from traces.counts.counters import EPOCH, compute_path_hash, list_uncounted, to_microseconds
from traces.entries.known_intents import load_known_intents
from traces.entry_schema import EVOLUTION_CLASS
from traces.filemap.symbols import find_newest_symbols
from traces.interchange.formats.intent_map import IntentSection
from traces.models import FileCount, TraceFile


class Touch(NamedTuple):
    """How often a file was changed under an intent ("" for none), and when last.

    `changed_us` is in microseconds since 1970; `evolved` counts entries of class INTENT_EVOLUTION. A tuple,
    because a map is made of tens of thousands.
    """

    path: str
    intent_id: str
    entries: int
    changed_us: int
    evolved: int = 0

    @property
    def last_changed(self) -> datetime:
        return EPOCH + timedelta(microseconds=self.changed_us)


def load_touches(
    workspace_id: int, *, path: str | None = None, uncounted: Sequence[int] | None = None
) -> list[Touch]:
    """Return every pair of file and intent with its counts, by path. 2 queries with `uncounted`, else 5."""
    uncounted = list_uncounted(workspace_id) if uncounted is None else uncounted
    counted = FileCount.objects.filter(workspace_id=workspace_id)
    uncounted_files = TraceFile.objects.filter(entry__in=uncounted)
    if path is not None:
        # The hash serves the index, the path decides: two paths may share a hash.
        counted = counted.filter(path_hash=compute_path_hash(path), path=path)
        uncounted_files = uncounted_files.filter(path=path)
    grouped = uncounted_files.values_list("path", "intent_id").annotate(
        entries=Count("entry_id", distinct=True),
        last=Max("changed_at"),
        evolved=Count("entry_id", distinct=True, filter=Q(mutation_class=EVOLUTION_CLASS)),
    )
    counted_rows = counted.values_list("path", "intent_id", "entries", "last_changed", "evolved")
    return _add_touches(
        list(map(Touch._make, counted_rows)),
        [
            Touch(path, name, entries, to_microseconds(changed_at), evolved)
            for path, name, entries, changed_at, evolved in grouped.order_by()
        ],
    )


def list_file_touches(workspace_id: int, path: str, uncounted: Sequence[int]) -> list[Touch]:
    """Return the intents under which a file was changed. 2 queries."""
    return load_touches(workspace_id, path=path, uncounted=uncounted)


def build_map_sections(workspace_id: int) -> list[IntentSection]:
    """Return the sections of `intent_map.md`: files with INTENT_EVOLUTION entries, and their symbols.

    5 queries, 1 more for 500 paths.
    """
    names = load_known_intents(workspace_id)
    paths: dict[str, list[str]] = {}
    for touch in load_touches(workspace_id):
        if touch.intent_id and touch.evolved:
            paths.setdefault(touch.intent_id, []).append(touch.path)
    symbols = find_newest_symbols(workspace_id, {path for found in paths.values() for path in found})
    return [
        IntentSection(
            intent_id,
            names[intent_id].name if intent_id in names else "",
            tuple(sorted(found)),
            {path: symbols[path] for path in found if path in symbols},
        )
        for intent_id, found in sorted(paths.items())
    ]


def _add_touches(counted: Sequence[Touch], new: Sequence[Touch]) -> list[Touch]:
    """Add up touches by path and intent."""
    if not new:
        return sorted(counted)
    touches = {(touch.path, touch.intent_id): touch for touch in counted}
    for touch in new:
        key = (touch.path, touch.intent_id)
        previous = touches.get(key)
        touches[key] = touch if previous is None else _add(previous, touch)
    return sorted(touches.values())


def _add(first: Touch, second: Touch) -> Touch:
    entries, evolved = first.entries + second.entries, first.evolved + second.evolved
    return Touch(first.path, first.intent_id, entries, max(first.changed_us, second.changed_us), evolved)
