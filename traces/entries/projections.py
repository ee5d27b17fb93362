"""What queries need of trace entries, kept in tables beside the evidence and rebuilt from it at will."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from traces.counts.counters import find_top_directory, recount
from traces.entry_schema import ParsedEntry, parse_entry
from traces.ledger.append import read_body
from traces.ledger.insert_rows import RowValues, insert_rows
from traces.models import EntryKind, LedgerEntry, TraceEntry, TraceFile, TraceRange

BATCH_SIZE = 250


@dataclass(frozen=True, slots=True)
class RecordedTrace:
    """A trace entry that is in the ledger under row `id`, as it was read."""

    id: int
    workspace_id: int
    parsed: ParsedEntry
    imported: bool = False


@dataclass(frozen=True, slots=True)
class ProjectionRows:
    """Of one entry: its own row, and those of its files under each of their intents, with their ranges."""

    entry: RowValues
    files: list[tuple[RowValues, list[RowValues]]]


def write_projections(traces: Iterable[RecordedTrace]) -> None:
    """Write the rows of these entries, inside the caller's transaction. 3 statements a batch."""
    entries: list[RowValues] = []
    files: list[RowValues] = []
    ranges: list[list[RowValues]] = []
    for trace in traces:
        rows = build_rows(trace.workspace_id, trace.parsed, trace.parsed.changed_at, imported=trace.imported)
        entries.append({"entry_id": trace.id} | rows.entry)
        for file, of_it in rows.files:
            files.append({"entry_id": trace.id} | file)
            ranges.append(of_it)
    insert_rows(TraceEntry, entries)
    ids = insert_rows(TraceFile, files, returning=True)
    claimed = [{"file_id": row_id} | row for row_id, of_it in zip(ids, ranges, strict=True) for row in of_it]
    insert_rows(TraceRange, claimed)


def build_rows(
    workspace_id: int, parsed: ParsedEntry, changed_at: datetime | str, *, imported: bool
) -> ProjectionRows:
    """The rows of an entry that was read, without the row ids that only its recording gives.

    `changed_at` is the reading's own, in the form in which it is to be written.
    """
    entry: RowValues = {
        "workspace_id": workspace_id,
        "changed_at": changed_at,
        "revision_id": parsed.revision_id,
        "imported": imported,
    }
    pairs = [(file, intent) for file in parsed.files for intent in file.intents or ("",)]
    files: list[tuple[RowValues, list[RowValues]]] = []
    for file, intent in pairs:
        row = {
            "workspace_id": workspace_id,
            "path": file.path,
            "session_id": file.session_id or parsed.session_id,
            "intent_id": intent,
            "changed_at": changed_at,
            "mutation_class": parsed.mutation_class[:40],
            "content_hash": file.content_hash,
            "deleted": file.deleted,
            "imported": imported,
            "lead_folder": "" if files else find_top_directory(file.path),
        }
        files.append((row, [lines._asdict() for lines in file.ranges]))
    return ProjectionRows(entry, files)


def rebuild_projections(workspace_id: int) -> int:
    """Make the rows of a workspace anew from the bodies; the number of entries read.

    Which entries were imported is known to these tables alone, so it is carried over. So are the rows of
    entries whose bodies are archived: there is nothing here to make them from.
    """
    with transaction.atomic():
        traces = TraceEntry.objects.filter(workspace_id=workspace_id)
        imported = set(traces.filter(imported=True).values_list("entry_id", flat=True))
        TraceFile.objects.filter(workspace_id=workspace_id, entry__body__isnull=False).delete()
        traces.filter(entry__body__isnull=False).delete()
        entries = (
            LedgerEntry.objects.for_workspace(workspace_id).of_kind(EntryKind.TRACE).select_related("body")
        )
        batch: list[RecordedTrace] = []
        count = 0
        for entry in entries.order_by("pk").iterator(chunk_size=BATCH_SIZE):
            body = read_body(entry)
            if body is not None:
                count += 1
                batch.append(RecordedTrace(entry.pk, workspace_id, parse_entry(body), entry.pk in imported))
            if len(batch) == BATCH_SIZE:
                write_projections(batch)
                batch = []
        write_projections(batch)
        recount(workspace_id)
    return count
