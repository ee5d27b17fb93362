"""What queries need of trace entries, kept in tables beside the evidence and rebuilt from it at will."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db import transaction

from traces.counts import recount, top_folder
from traces.ledger import body_of
from traces.models import Kind, LedgerEntry, TraceEntry, TraceFile
from traces.rows import Row, insert_rows
from traces.shape import FileChange, Reading, read_entry

BATCH = 250


@dataclass(frozen=True, slots=True)
class Recorded:
    """A trace entry that is in the ledger under row `id`, as it was read."""

    id: int
    workspace_id: int
    reading: Reading
    imported: bool = False


def project(recorded: Iterable[Recorded]) -> None:
    """Write the rows of these entries, inside the caller's transaction. 3 statements a batch."""
    known = list(recorded)
    insert_rows("traces_traceentry", [_entry_row(one) for one in known])
    files = [of for one in known for of in _files_of(one)]
    ids = insert_rows("traces_tracefile", [_file_row(*of) for of in files], returning=True)
    ranges = [
        row for row_id, (_, file, *_) in zip(ids, files, strict=True) for row in _range_rows(row_id, file)
    ]
    insert_rows("traces_tracerange", ranges)


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
        entries = LedgerEntry.objects.filter(workspace_id=workspace_id, kind=Kind.TRACE).select_related(
            "body"
        )
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


def _entry_row(one: Recorded) -> Row:
    return {
        "entry_id": one.id,
        "workspace_id": one.workspace_id,
        "changed_at": one.reading.changed_at,
        "revision_id": one.reading.revision_id,
        "imported": one.imported,
    }


def _files_of(one: Recorded) -> Iterator[tuple[Recorded, FileChange, str, bool]]:
    """Every file under each of its intents, and whether it is the entry's first row."""
    pairs = ((file, intent) for file in one.reading.files for intent in file.intents or ("",))
    for place, (file, intent) in enumerate(pairs):
        yield one, file, intent, place == 0


def _file_row(one: Recorded, file: FileChange, intent: str, leads: bool) -> Row:
    return {
        "entry_id": one.id,
        "workspace_id": one.workspace_id,
        "path": file.path,
        "session_id": file.session_id or one.reading.session_id,
        "intent_id": intent,
        "changed_at": one.reading.changed_at,
        "mutation_class": one.reading.mutation_class[:40],
        "content_hash": file.content_hash,
        "deleted": file.deleted,
        "imported": one.imported,
        "lead_folder": top_folder(file.path) if leads else "",
    }


def _range_rows(file_id: int, file: FileChange) -> list[Row]:
    return [
        {
            "file_id": file_id,
            "start_line": lines.start_line,
            "end_line": lines.end_line,
            "content_hash": lines.content_hash,
            "contributor": lines.contributor,
            "model": lines.model,
        }
        for lines in file.ranges
    ]
