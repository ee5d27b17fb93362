"""Project trace entries into tables for queries. Projections can be rebuilt from the bodies."""

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
    """A parsed trace entry, and its row id in the ledger."""

    id: int
    workspace_id: int
    parsed: ParsedEntry
    imported: bool = False


@dataclass(frozen=True, slots=True)
class ProjectionRows:
    """The rows of one entry: its own, and one per file and intent, with the ranges of each."""

    entry: RowValues
    files: list[tuple[RowValues, list[RowValues]]]


def write_projections(traces: Iterable[RecordedTrace]) -> None:
    """Insert the rows of these entries, inside the caller's transaction. 3 statements."""
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
    """Build the rows of a parsed entry, without the row ids, which only inserting assigns.

    `changed_at` is that of `parsed`, in the form that the writer needs.
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
            "mutation_class": parsed.get_effective_class(file)[:40],
            "content_hash": file.content_hash,
            "deleted": file.deleted,
            "imported": imported,
            "lead_folder": "" if files else find_top_directory(file.path),
            "symbols": file.symbols,
        }
        files.append((row, [lines._asdict() for lines in file.ranges]))
    return ProjectionRows(entry, files)


def rebuild_projections(workspace_id: int) -> int:
    """Rebuild the rows of a workspace from the bodies. Return the number of entries read.

    Only these tables know which entries were imported, so that is kept. Rows of archived entries stay,
    since their bodies are not in the database.
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
