"""What queries need of trace entries, kept in tables beside the evidence and rebuilt from it at will."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from traces.counts.counters import recount, top_folder
from traces.entry_schema import Reading, read_entry
from traces.ledger.append import body_of
from traces.ledger.insert_rows import RowValues, insert_rows
from traces.models import Kind, LedgerEntry, TraceEntry, TraceFile, TraceRange

BATCH = 250


@dataclass(frozen=True, slots=True)
class Recorded:
    """A trace entry that is in the ledger under row `id`, as it was read."""

    id: int
    workspace_id: int
    reading: Reading
    imported: bool = False


@dataclass(frozen=True, slots=True)
class Rows:
    """Of one entry: its own row, and those of its files under each of their intents, with their ranges."""

    entry: RowValues
    files: list[tuple[RowValues, list[RowValues]]]


def project(recorded: Iterable[Recorded]) -> None:
    """Write the rows of these entries, inside the caller's transaction. 3 statements a batch."""
    entries: list[RowValues] = []
    files: list[RowValues] = []
    ranges: list[list[RowValues]] = []
    for one in recorded:
        mine = rows_of(one.workspace_id, one.reading, one.reading.changed_at, imported=one.imported)
        entries.append({"entry_id": one.id} | mine.entry)
        for file, of_it in mine.files:
            files.append({"entry_id": one.id} | file)
            ranges.append(of_it)
    insert_rows(TraceEntry, entries)
    ids = insert_rows(TraceFile, files, returning=True)
    claimed = [{"file_id": row_id} | row for row_id, of_it in zip(ids, ranges, strict=True) for row in of_it]
    insert_rows(TraceRange, claimed)


def rows_of(workspace_id: int, reading: Reading, changed_at: datetime | str, *, imported: bool) -> Rows:
    """The rows of an entry that was read, without the row ids that only its recording gives.

    `changed_at` is the reading's own, in the form in which it is to be written.
    """
    entry: RowValues = {
        "workspace_id": workspace_id,
        "changed_at": changed_at,
        "revision_id": reading.revision_id,
        "imported": imported,
    }
    told = [(file, intent) for file in reading.files for intent in file.intents or ("",)]
    files: list[tuple[RowValues, list[RowValues]]] = []
    for file, intent in told:
        row = {
            "workspace_id": workspace_id,
            "path": file.path,
            "session_id": file.session_id or reading.session_id,
            "intent_id": intent,
            "changed_at": changed_at,
            "mutation_class": reading.mutation_class[:40],
            "content_hash": file.content_hash,
            "deleted": file.deleted,
            "imported": imported,
            "lead_folder": "" if files else top_folder(file.path),
        }
        files.append((row, [lines._asdict() for lines in file.ranges]))
    return Rows(entry, files)


def rebuild(workspace_id: int) -> int:
    """Make the rows of a workspace anew from the bodies; the number of entries read.

    Which entries were imported is known to these tables alone, so it is carried over. So are the rows of
    entries whose bodies are archived: there is nothing here to make them from.
    """
    with transaction.atomic():
        mine = TraceEntry.objects.filter(workspace_id=workspace_id)
        imported = set(mine.filter(imported=True).values_list("entry_id", flat=True))
        TraceFile.objects.filter(workspace_id=workspace_id, entry__body__isnull=False).delete()
        mine.filter(entry__body__isnull=False).delete()
        entries = LedgerEntry.objects.for_workspace(workspace_id).of_kind(Kind.TRACE).select_related("body")
        batch: list[Recorded] = []
        count = 0
        for entry in entries.order_by("pk").iterator(chunk_size=BATCH):
            body = body_of(entry)
            if body is not None:
                count += 1
                batch.append(Recorded(entry.pk, workspace_id, read_entry(body), entry.pk in imported))
            if len(batch) == BATCH:
                project(batch)
                batch = []
        project(batch)
        recount(workspace_id)
    return count
