"""Project trace entries into tables for queries.

The rows follow from the entry alone, and their digest is sealed in its envelope: whoever changes them later
is found by `traces.verification`, also when the body is archived. The digest is salted, because an envelope
outlives a redaction and short paths could be guessed from it. The salt is derived from that of the body and
stands in the row of the first file, which a redaction deletes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter

import orjson
from django.db import connection

from traces.counts.counters import find_top_directory
from traces.entry_schema import ParsedEntry
from traces.ledger.append import SALT_SIZE, format_instant
from traces.ledger.insert_rows import RowValues, insert_rows_with
from traces.models import TraceEntry, TraceFile, TraceRange

ROWS_FORMAT = "1"  # of what is hashed; a new column needs a new format, since old digests stay as they are
FILE_FIELDS = (
    "path", "session_id", "intent_id", "mutation_class", "content_hash", "deleted", "lead_folder", "symbols",
)  # fmt: skip
_file_fields = itemgetter(*FILE_FIELDS)


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


@dataclass(frozen=True, slots=True)
class SealedRows:
    """The rows of an entry that is not appended yet, their digest for its envelope, and its body's salt."""

    rows: ProjectionRows
    digest: str
    body_salt: bytes


def seal_rows(
    workspace_id: int, parsed: ParsedEntry, *, imported: bool, changed_at: str | None = None
) -> SealedRows:
    """Build the rows of an entry and their digest. `changed_at` is the time in the form of the writer."""
    body_salt = os.urandom(SALT_SIZE)
    salt = derive_salt(body_salt) if parsed.files else b""  # without a file no row keeps it, or needs it
    rows = build_rows(workspace_id, parsed, changed_at or parsed.changed_at, imported=imported, salt=salt)
    return SealedRows(rows, compute_digest(rows, parsed.changed_at, salt), body_salt)


def derive_salt(body_salt: bytes) -> bytes:
    """Return the salt of the digest of rows. It tells nothing about the salt of the body."""
    return hashlib.sha256(b"rows" + body_salt).digest()[:SALT_SIZE]


def compute_digest(rows: ProjectionRows, changed_at: datetime, salt: bytes) -> str:
    """Return what the envelope seals: the format of the rows and their salted hash."""
    files = [[_file_fields(row), [list(lines.values()) for lines in ranges]] for row, ranges in rows.files]
    entry = rows.entry
    values = [format_instant(changed_at), entry["revision_id"], entry["imported"], files]
    return f"{ROWS_FORMAT}:{hashlib.sha256(salt + orjson.dumps(values)).hexdigest()}"


def write_projections(traces: Iterable[RecordedTrace]) -> None:
    """Insert the rows of these entries, inside the caller's transaction. 3 statements."""
    write_rows(
        (
            trace.id,
            build_rows(trace.workspace_id, trace.parsed, trace.parsed.changed_at, imported=trace.imported),
        )
        for trace in traces
    )


def write_rows(rows_by_entry: Iterable[tuple[int, ProjectionRows]]) -> None:
    """Insert rows that are built already, inside the caller's transaction. 3 statements."""
    entries: list[RowValues] = []
    files: list[RowValues] = []
    ranges: list[list[RowValues]] = []
    for entry_id, rows in rows_by_entry:
        entries.append({"entry_id": entry_id} | rows.entry)
        for file, of_it in rows.files:
            files.append({"entry_id": entry_id} | file)
            ranges.append(of_it)
    with connection.cursor() as cursor:
        insert_rows_with(cursor, TraceEntry, entries)
        ids = insert_rows_with(cursor, TraceFile, files, returning=True)
        of_files = zip(ids, ranges, strict=True)
        claimed = [{"file_id": row_id} | row for row_id, of_it in of_files for row in of_it]
        insert_rows_with(cursor, TraceRange, claimed)


def build_rows(
    workspace_id: int,
    parsed: ParsedEntry,
    changed_at: datetime | str,
    *,
    imported: bool,
    salt: bytes = b"",
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
            "salt": b"" if files else salt,
        }
        files.append((row, [lines._asdict() for lines in file.ranges]))
    return ProjectionRows(entry, files)
