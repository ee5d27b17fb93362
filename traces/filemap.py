"""Which intent evolved, touched and owns which file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max

from traces.interchange.intent_map import Section
from traces.known_intents import known_intents
from traces.models import TraceFile
from traces.shape import EVOLUTION


@dataclass(frozen=True, slots=True)
class Touch:
    """How often a file was changed under an intent ("" for none), and when last."""

    path: str
    intent_id: str
    entries: int
    last: datetime


def touches(workspace_id: int, *, path: str | None = None, intent_id: str | None = None) -> list[Touch]:
    """Every pair of file and intent with its count, by path. 1 query, grouped."""
    rows = TraceFile.objects.filter(workspace_id=workspace_id)
    if path is not None:
        rows = rows.filter(path=path)
    if intent_id is not None:
        rows = rows.filter(intent_id=intent_id)
    grouped = rows.values("path", "intent_id").annotate(
        entries=Count("entry_id", distinct=True), last=Max("changed_at")
    )
    return [Touch(**row) for row in grouped.order_by("path", "intent_id")]


def intents_of(workspace_id: int, path: str) -> list[Touch]:
    """The intents under which a file was changed."""
    return touches(workspace_id, path=path)


def files_of(workspace_id: int, intent_id: str) -> list[Touch]:
    """The files that were changed under an intent."""
    return touches(workspace_id, intent_id=intent_id)


def map_sections(workspace_id: int) -> list[Section]:
    """The sections of `intent_map.md`: files that mutations of class INTENT_EVOLUTION changed. 2 queries."""
    names = known_intents(workspace_id)
    evolved = TraceFile.objects.filter(workspace_id=workspace_id, mutation_class=EVOLUTION)
    pairs = evolved.exclude(intent_id="").values_list("intent_id", "path").distinct().order_by()
    paths: dict[str, list[str]] = {}
    for intent_id, path in pairs:
        paths.setdefault(intent_id, []).append(path)
    return [
        Section(intent_id, names[intent_id].name if intent_id in names else "", tuple(sorted(found)))
        for intent_id, found in sorted(paths.items())
    ]
