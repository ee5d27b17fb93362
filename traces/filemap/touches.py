"""Which intent evolved, touched and owns which file."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Count, Max, Q

from traces.counts.counters import EPOCH, microseconds, path_hash, uncounted
from traces.counts.models import FileCount
from traces.entries.known_intents import known_intents
from traces.entry_schema import EVOLUTION
from traces.interchange.formats.intent_map import Section
from traces.models import TraceFile

MAX_FRESH = 10_000  # entries that are not counted yet


class Touch(NamedTuple):
    """How often a file was changed under an intent ("" for none), and when last.

    `changed` is in microseconds since 1970, `evolved` are those of class INTENT_EVOLUTION. A tuple, as a map
    is made of tens of thousands.
    """

    path: str
    intent_id: str
    entries: int
    changed: int
    evolved: int = 0

    @property
    def last(self) -> datetime:
        return EPOCH + timedelta(microseconds=self.changed)


def touches(workspace_id: int, *, path: str | None = None, intent_id: str | None = None) -> list[Touch]:
    """Every pair of file and intent with its count, by path. 4 queries, from the kept numbers."""
    kept = FileCount.objects.filter(workspace_id=workspace_id)
    new = TraceFile.objects.filter(entry__in=uncounted(workspace_id, MAX_FRESH))
    if path is not None:
        kept, new = kept.filter(path_hash=path_hash(path), path=path), new.filter(path=path)
    if intent_id is not None:
        kept, new = kept.filter(intent_id=intent_id), new.filter(intent_id=intent_id)
    counts = {"entries": Count("entry_id", distinct=True), "last": Max("changed_at")}
    evolved = Count("entry_id", distinct=True, filter=Q(mutation_class=EVOLUTION))
    grouped = new.values_list("path", "intent_id").annotate(**counts, evolved=evolved).order_by()
    rows = kept.values_list("path", "intent_id", "entries", "last_changed", "evolved")
    return _summed(
        list(map(Touch._make, rows)),
        [
            Touch(path, name, entries, microseconds(last), evolved)
            for path, name, entries, last, evolved in grouped
        ],
    )


def intents_of(workspace_id: int, path: str) -> list[Touch]:
    """The intents under which a file was changed."""
    return touches(workspace_id, path=path)


def files_of(workspace_id: int, intent_id: str) -> list[Touch]:
    """The files that were changed under an intent."""
    return touches(workspace_id, intent_id=intent_id)


def map_sections(workspace_id: int) -> list[Section]:
    """The sections of `intent_map.md`: files that mutations of class INTENT_EVOLUTION changed. 5 queries."""
    names = known_intents(workspace_id)
    paths: dict[str, list[str]] = {}
    for touch in touches(workspace_id):
        if touch.intent_id and touch.evolved:
            paths.setdefault(touch.intent_id, []).append(touch.path)
    return [
        Section(intent_id, names[intent_id].name if intent_id in names else "", tuple(sorted(found)))
        for intent_id, found in sorted(paths.items())
    ]


def _summed(kept: Sequence[Touch], new: Sequence[Touch]) -> list[Touch]:
    """Both together, by path and intent."""
    if not new:
        return sorted(kept)
    found = {(touch.path, touch.intent_id): touch for touch in kept}
    for touch in new:
        key = (touch.path, touch.intent_id)
        known = found.get(key)
        found[key] = touch if known is None else _sum(known, touch)
    return sorted(found.values())


def _sum(one: Touch, other: Touch) -> Touch:
    entries, evolved = one.entries + other.entries, one.evolved + other.evolved
    return Touch(one.path, one.intent_id, entries, max(one.changed, other.changed), evolved)
