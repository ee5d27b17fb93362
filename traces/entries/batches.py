"""Store many trace entries at once, with all rows built before the transaction begins.

A `Batch` is plain values and can be pickled: one process builds it from entries, another writes it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

from django.db import IntegrityError, connection, transaction

from traces.entries.deduplicate import SubmittedEntry
from traces.entries.projections import seal_rows
from traces.entries.record import StoreOptions, StoreResult, classify_batch, store_with_retry, to_ledger_entry
from traces.ledger.append import COLUMNS, prepare
from traces.ledger.bulk_insert import PackedRow, column_names, insert_packed, reserve_ids, row_format
from traces.models import LedgerBody, LedgerEntry, TraceEntry, TraceFile, TraceRange

ENTRY_COLUMNS = ("id", *COLUMNS)
BODY_COLUMNS = column_names(LedgerBody)
TRACE_COLUMNS = column_names(TraceEntry)
FILE_COLUMNS = column_names(TraceFile)
RANGE_COLUMNS = column_names(TraceRange, without_id=True)
_in_column_order = itemgetter(*COLUMNS)


@dataclass(frozen=True, slots=True)
class Batch:
    """Entries and their rows without row ids, packed for one database.

    `file_entry` maps each file to the index of its entry, `range_file` each range to that of its file.
    """

    lines: list[int | None]
    ids: list[str]
    bodies: list[bytes]
    entries: list[PackedRow]
    body_rows: list[PackedRow]
    traces: list[PackedRow]
    files: list[PackedRow]
    file_entry: list[int]
    ranges: list[PackedRow]
    range_file: list[int]

    def to_entries(self) -> list[BatchEntry]:
        return [
            BatchEntry(index, *fields)
            for index, fields in enumerate(zip(self.ids, self.bodies, self.lines, strict=True))
        ]

    def select(self, indexes: Sequence[int]) -> Batch:
        """Return the entries at these ascending indexes, with their rows."""
        if len(indexes) == len(self.ids):
            return self
        new_index = {index: at for at, index in enumerate(indexes)}
        files = [at for at, index in enumerate(self.file_entry) if index in new_index]
        new_file = {at: to for to, at in enumerate(files)}
        ranges = [at for at, file in enumerate(self.range_file) if file in new_file]
        lines, ids, bodies, entries, contents, traces = (
            [column[index] for index in indexes] for column in self._of_entries()
        )
        return Batch(
            lines, ids, bodies, entries, contents, traces,
            files=[self.files[at] for at in files],
            file_entry=[new_index[self.file_entry[at]] for at in files],
            ranges=[self.ranges[at] for at in ranges],
            range_file=[new_file[self.range_file[at]] for at in ranges],
        )  # fmt: skip

    def _of_entries(self) -> tuple[list[Any], ...]:
        return self.lines, self.ids, self.bodies, self.entries, self.body_rows, self.traces


@dataclass(frozen=True, slots=True)
class BatchEntry:
    """An entry of a batch, for deduplication. Its value is parsed only when needed."""

    index: int
    entry_id: str
    encoded: bytes
    line: int | None

    @property
    def value(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(self.encoded)
        return read

    def to_canonical_bytes(self) -> bytes:
        return self.encoded


def build_batch(
    workspace_id: int, entries: Sequence[SubmittedEntry], options: StoreOptions, vendor: str
) -> Batch:
    """Build a batch of entries received now, for a database of this vendor. No queries."""
    row_form, received_at = row_format(vendor), datetime.now(UTC)
    pack, received = row_form.pack, {"received_at": row_form.format_time(received_at)}
    batch = Batch([], [], [], [], [], [], [], [], [], [])
    for index, submitted in enumerate(entries):
        parsed = submitted.parse()
        changed_at = row_form.format_time(parsed.changed_at)
        sealed = seal_rows(workspace_id, parsed, imported=options.imported, changed_at=changed_at)
        prepared = prepare(to_ledger_entry(workspace_id, submitted, parsed, sealed, options), received_at)
        rows = sealed.rows
        batch.lines.append(submitted.line)
        batch.ids.append(prepared.row["entry_id"])
        batch.bodies.append(prepared.body)
        batch.entries.append(pack(_in_column_order(prepared.row | received)))
        batch.body_rows.append(pack((prepared.salt, prepared.body)))
        batch.traces.append(pack(rows.entry.values()))
        for file, ranges in rows.files:
            batch.range_file.extend([len(batch.files)] * len(ranges))
            batch.ranges.extend([pack(lines.values()) for lines in ranges])
            batch.file_entry.append(index)
            batch.files.append(pack(file.values()))
    return batch


def store_batch(workspace_id: int, batch: Batch, options: StoreOptions) -> StoreResult:
    """Store a batch inside the caller's transaction, with the result of `store_entries`.

    Most batches hold no duplicates, so they are written without a check, and the unique index would reject
    one: 2 queries and the statements of `insert_packed` for 5 tables. Rejected batches are compared first.
    """
    ids = _write_unless_known(batch)
    if ids is None:
        return store_with_retry(lambda: _store_unknown(workspace_id, batch, options))
    _write_rest(batch, ids)
    return StoreResult(len(ids), 0, ())


def _store_unknown(workspace_id: int, batch: Batch, options: StoreOptions) -> StoreResult:
    """Store the new entries of a batch. 3 queries and those statements, twice with conflicts to store."""
    classified = classify_batch(workspace_id, batch.to_entries(), options)
    _write(batch.select([entry.index for entry in classified.new]))
    if classified.renamed:
        _write(build_batch(workspace_id, classified.renamed, options, connection.vendor))
    return StoreResult(
        len(classified.new) + len(classified.renamed), classified.duplicates, classified.conflicts
    )


def _write(batch: Batch) -> None:
    if batch.ids:
        _write_rest(batch, _write_entries(batch))


def _write_unless_known(batch: Batch) -> Sequence[int] | None:
    """Write the ledger rows. Return None, with nothing written, where one of them exists.

    Only this runs in a savepoint, since SQLite copies every page that changes inside one.
    """
    try:
        with transaction.atomic():
            return _write_entries(batch)
    except IntegrityError:
        return None


def _write_entries(batch: Batch) -> Sequence[int]:
    ids = reserve_ids(LedgerEntry, len(batch.ids))
    insert_packed(LedgerEntry, ENTRY_COLUMNS, batch.entries, ids)
    return ids


def _write_rest(batch: Batch, ids: Sequence[int]) -> None:
    insert_packed(LedgerBody, BODY_COLUMNS, batch.body_rows, ids)
    insert_packed(TraceEntry, TRACE_COLUMNS, batch.traces, ids)
    file_ids = reserve_ids(TraceFile, len(batch.files))
    insert_packed(TraceFile, FILE_COLUMNS, batch.files, file_ids, [ids[at] for at in batch.file_entry])
    insert_packed(TraceRange, RANGE_COLUMNS, batch.ranges, [file_ids[at] for at in batch.range_file])
