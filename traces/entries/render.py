"""Render trace entries for readers: as they were recorded, or as an outline where the body is archived.

The projections of an archived entry keep its files and lines. That is enough for an outline, which is marked
as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC
from itertools import islice
from typing import Any

from traces.entry_schema import DELETED, INTENT_TYPE
from traces.ledger.append import read_body
from traces.ledger.missing_bodies import MissingBodies, MissingBody
from traces.models import EntryKind, LedgerEntry, TraceFile

CHUNK = 500


@dataclass(frozen=True, slots=True)
class RenderedEntry:
    """A trace entry for a reader: as recorded, or its outline with an `absence`, or nothing but that."""

    entry: LedgerEntry
    value: dict[str, Any] | None
    absence: MissingBody | None = None


def render_entries(entries: Iterable[LedgerEntry]) -> Iterator[RenderedEntry]:
    """Trace entries of one workspace, in order, read in pieces. 3 queries more a piece with archived ones."""
    absences: MissingBodies | None = None
    rest = iter(entries)
    while piece := list(islice(rest, CHUNK)):
        absences = absences or MissingBodies(piece[0].workspace_id)
        yield from _render(piece, absences)


def _render(piece: Sequence[LedgerEntry], absences: MissingBodies) -> Iterator[RenderedEntry]:
    values = [read_body(entry) for entry in piece]
    gone = {
        entry.pk: absences.explain(entry)
        for entry, value in zip(piece, values, strict=True)
        if value is None and entry.kind == EntryKind.TRACE
    }
    outlined = _outlines([entry for entry in piece if entry.pk in gone and gone[entry.pk].archived], gone)
    for entry, value in zip(piece, values, strict=True):
        yield RenderedEntry(entry, value or outlined.get(entry.pk), gone.get(entry.pk))


def _outlines(entries: Sequence[LedgerEntry], gone: dict[int, MissingBody]) -> dict[int, dict[str, Any]]:
    """What is still known of archived trace entries, in the shape of an entry, by row id. 3 queries."""
    if not entries:
        return {}
    rows = LedgerEntry.objects.filter(pk__in=[entry.pk for entry in entries]).select_related("trace")
    found = rows.prefetch_related("files__ranges")
    return {entry.pk: _outline(entry, gone[entry.pk]) for entry in found}


def _outline(entry: LedgerEntry, absence: MissingBody) -> dict[str, Any]:
    files: dict[str, list[TraceFile]] = {}
    for file in entry.files.all():
        files.setdefault(file.path, []).append(file)
    said = getattr(entry, "trace", None)
    moment = said.changed_at if said else entry.received_at
    value: dict[str, Any] = {
        "id": entry.entry_id,
        "timestamp": moment.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "vcs": {"revision_id": (said and said.revision_id) or None},
        "files": [
            {"relative_path": path, "conversations": [_talk(same)]} for path, same in sorted(files.items())
        ],
        "archived": {"file": absence.file, "entry": absence.seq},
    }
    if entry.outcome:
        value["mutation_class"] = entry.outcome
    return value


def _talk(same: list[TraceFile]) -> dict[str, Any]:
    """The rows of one file: one for each intent, all with the same lines."""
    lines = list(same[0].ranges.all())
    first = lines[0] if lines else None
    ranges = [
        {
            "start_line": one.start_line,
            "end_line": one.end_line,
            "content_hash": DELETED if same[0].deleted else one.content_hash or None,
        }
        for one in lines
    ]
    return {
        "url": same[0].session_id,
        "contributor": {
            "entity_type": (first and first.contributor) or None,
            "model_identifier": (first and first.model) or None,
        },
        "ranges": ranges,
        "related": [{"type": INTENT_TYPE, "value": one.intent_id} for one in same if one.intent_id],
    }
