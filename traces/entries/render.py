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
    missing: MissingBody | None = None


def render_entries(entries: Iterable[LedgerEntry]) -> Iterator[RenderedEntry]:
    """Trace entries of one workspace, in order, read in pieces. 3 queries more a piece with archived ones."""
    missing_bodies: MissingBodies | None = None
    iterator = iter(entries)
    while chunk := list(islice(iterator, CHUNK)):
        missing_bodies = missing_bodies or MissingBodies(chunk[0].workspace_id)
        yield from _render(chunk, missing_bodies)


def _render(chunk: Sequence[LedgerEntry], missing_bodies: MissingBodies) -> Iterator[RenderedEntry]:
    values = [read_body(entry) for entry in chunk]
    missing = {
        entry.pk: missing_bodies.explain(entry)
        for entry, value in zip(chunk, values, strict=True)
        if value is None and entry.kind == EntryKind.TRACE
    }
    outlined = _build_outlines(
        [entry for entry in chunk if entry.pk in missing and missing[entry.pk].archived], missing
    )
    for entry, value in zip(chunk, values, strict=True):
        yield RenderedEntry(entry, value or outlined.get(entry.pk), missing.get(entry.pk))


def _build_outlines(
    entries: Sequence[LedgerEntry], missing: dict[int, MissingBody]
) -> dict[int, dict[str, Any]]:
    """What is still known of archived trace entries, in the shape of an entry, by row id. 3 queries."""
    if not entries:
        return {}
    rows = LedgerEntry.objects.filter(pk__in=[entry.pk for entry in entries]).select_related("trace")
    rows_with_files = rows.prefetch_related("files__ranges")
    return {entry.pk: _build_outline(entry, missing[entry.pk]) for entry in rows_with_files}


def _build_outline(entry: LedgerEntry, missing: MissingBody) -> dict[str, Any]:
    files: dict[str, list[TraceFile]] = {}
    for file in entry.files.all():
        files.setdefault(file.path, []).append(file)
    trace = getattr(entry, "trace", None)
    changed_at = trace.changed_at if trace else entry.received_at
    value: dict[str, Any] = {
        "id": entry.entry_id,
        "timestamp": changed_at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "vcs": {"revision_id": (trace and trace.revision_id) or None},
        "files": [
            {"relative_path": path, "conversations": [_build_conversation(same)]} | _build_file_hash(same[0])
            for path, same in sorted(files.items())
        ],
        "archived": {"file": missing.file, "entry": missing.seq},
    }
    if entry.outcome:
        value["mutation_class"] = entry.outcome
    return value


def _build_file_hash(file: TraceFile) -> dict[str, str]:
    """Return the hash of a file that has no range to hold it."""
    content_hash = DELETED if file.deleted else file.content_hash
    return {"content_hash": content_hash} if content_hash and not file.ranges.all() else {}


def _build_conversation(same: list[TraceFile]) -> dict[str, Any]:
    """The rows of one file: one for each intent, all with the same lines."""
    lines = list(same[0].ranges.all())
    first = lines[0] if lines else None
    ranges = [
        {
            "start_line": line_range.start_line,
            "end_line": line_range.end_line,
            "content_hash": DELETED if same[0].deleted else line_range.content_hash or None,
        }
        for line_range in lines
    ]
    return {
        "url": same[0].session_id,
        "contributor": {
            "entity_type": (first and first.contributor) or None,
            "model_identifier": (first and first.model) or None,
        },
        "ranges": ranges,
        "related": [{"type": INTENT_TYPE, "value": file.intent_id} for file in same if file.intent_id],
    }
