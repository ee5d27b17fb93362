"""Compare the rows of trace entries with the digest in the envelope; in older ledgers, with the body."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Prefetch

from traces.entries.fast_path import parse_ordinary_entry
from traces.entries.mutation_class_check import RESERVED_REASONS
from traces.entries.projections import FILE_FIELDS, ProjectionRows, build_rows, compute_digest
from traces.entry_schema import parse_entry
from traces.ledger.append import read_body
from traces.ledger.insert_rows import RowValues
from traces.models import EntryKind, LedgerEntry, TraceEntry, TraceFile, TraceRange

CHUNK_SIZE = 500  # ids a query: SQLite allows a limited number of parameters
MAX_STRAYS = 20
_FILES, _ENTRIES, _TRACES = TraceFile._meta.db_table, LedgerEntry._meta.db_table, TraceEntry._meta.db_table
RANGE_NAMES = ("start_line", "end_line", "content_hash", "contributor", "model")
# `entry_id` leads the index of the table, so that both queries read no row but those that differ.
STRAYS = """SELECT rows.entry_id FROM {table} rows LEFT JOIN {entries} entry ON entry.id = rows.entry_id
    WHERE rows.workspace_id = %s AND (entry.id IS NULL OR entry.workspace_id <> rows.workspace_id)
    LIMIT %s"""


@dataclass(frozen=True, slots=True)
class StoredTrace:
    """The stored rows of an entry, and what is wrong with them regardless of the entry."""

    rows: ProjectionRows
    changed_at: datetime
    salt: bytes
    contradiction: str = ""


class TraceRowsCheck:
    """The projection check of `traces_traceentry`, `traces_tracefile` and `traces_tracerange`."""

    table = "traces_tracefile"

    def find_changes(
        self, entries: Sequence[LedgerEntry], redacted: Collection[int]
    ) -> Iterator[tuple[LedgerEntry, str]]:
        stored = load_stored_traces([entry.pk for entry in entries])
        for entry in entries:
            problem = _find_problem(entry, stored.get(entry.pk), is_redacted=entry.pk in redacted)
            if problem:
                yield entry, problem

    def find_strays(self, workspace_id: int) -> Iterator[str]:
        for table in (_FILES, _TRACES):
            with connection.cursor() as cursor:
                cursor.execute(STRAYS.format(table=table, entries=_ENTRIES), [workspace_id, MAX_STRAYS])
                for (entry_id,) in cursor.fetchall():
                    yield f"{table} has a row of the entry with row id {entry_id}, which this ledger has not"


def load_stored_traces(entry_ids: Sequence[int]) -> dict[int, StoredTrace]:
    """Load the rows of these entries as they are stored. 3 queries for 500 of them."""
    stored: dict[int, StoredTrace] = {}
    for at in range(0, len(entry_ids), CHUNK_SIZE):
        ids = entry_ids[at : at + CHUNK_SIZE]
        files: dict[int, list[TraceFile]] = defaultdict(list)
        ordered = TraceFile.objects.filter(entry_id__in=ids).order_by("pk")
        ranges = Prefetch("ranges", TraceRange.objects.order_by("pk"))
        for file in ordered.prefetch_related(ranges):
            files[file.entry_id].append(file)
        traces = {trace.pk: trace for trace in TraceEntry.objects.filter(pk__in=ids)}
        stored |= {
            entry_id: _to_stored(traces.get(entry_id), files.get(entry_id, []))
            for entry_id in files.keys() | traces.keys()
        }
    return stored


def build_expected_rows(entry: LedgerEntry, body: dict[str, Any], *, imported: bool) -> ProjectionRows:
    """Build the rows of an entry from its body."""
    parsed = parse_ordinary_entry(body) or parse_entry(body)
    return build_rows(entry.workspace_id, parsed, parsed.changed_at, imported=imported)


def is_imported(entry: LedgerEntry) -> bool:
    """Return whether an entry came in with a file: its sealed `reason` names the file then."""
    return bool(entry.reason) and entry.reason not in RESERVED_REASONS


def read_sealed_digest(entry: LedgerEntry) -> str:
    """Return the digest of rows in the envelope; "" for an entry older than these digests."""
    digest: str = json.loads(bytes(entry.envelope)).get("rows_digest", "")
    return digest


def _find_problem(entry: LedgerEntry, stored: StoredTrace | None, *, is_redacted: bool) -> str:
    """Return what is wrong with the rows of an entry; "" where nothing is."""
    if entry.kind != EntryKind.TRACE:
        return "" if stored is None else f"{_FILES} has rows of it, and it is not a trace"
    if is_redacted:
        return "" if stored is None or not stored.rows.files else f"{_FILES} has rows of it after a redaction"
    digest = read_sealed_digest(entry)
    if stored is None:
        # An older entry whose body is archived says nothing about its rows.
        return f"{_TRACES} has no row of it" if digest or _has_rows(entry) else ""
    if stored.contradiction:
        return stored.contradiction
    if digest and compute_digest(stored.rows, stored.changed_at, stored.salt) == digest:
        return ""
    problem = _find_wrong_origin(entry, stored, digest) or _compare_with_body(entry, stored)
    return problem or (f"{_FILES} holds other rows than those whose digest is sealed" if digest else "")


def _has_rows(entry: LedgerEntry) -> bool:
    """Return whether the body of an entry gives rows at all."""
    try:
        body = read_body(entry)
        return body is not None and bool(build_expected_rows(entry, body, imported=False).entry)
    except (AttributeError, LookupError, TypeError, ValueError):
        return False


def _find_wrong_origin(entry: LedgerEntry, stored: StoredTrace, digest: str) -> str:
    """Return how the rows contradict the envelope on whether an entry was imported."""
    imported = bool(stored.rows.entry["imported"])
    if is_imported(entry) and not imported:
        return f"{_TRACES} says that it was seen live, and it was imported"
    if not digest and imported and not is_imported(entry):
        return f"{_TRACES} says that it was imported, and it was seen live"
    return ""


def _compare_with_body(entry: LedgerEntry, stored: StoredTrace) -> str:
    """Return how the rows differ from those that the body gives; "" where it is not at hand."""
    try:
        body = read_body(entry)
        expected = (
            build_expected_rows(entry, body, imported=bool(stored.rows.entry["imported"])) if body else None
        )
    except (AttributeError, LookupError, TypeError, ValueError):
        return ""  # the body is not the one that was recorded, which is reported as such
    if expected is None:
        return ""
    if _comparable(expected.entry) != _comparable(stored.rows.entry):
        return f"{_TRACES} holds other values than its body"
    if len(expected.files) != len(stored.rows.files):
        return f"{_FILES} has {len(stored.rows.files)} rows of it, its body gives {len(expected.files)}"
    pairs = zip(expected.files, stored.rows.files, strict=True)
    return next((problem for pair in pairs if (problem := _compare_files(*pair))), "")


def _compare_files(
    expected: tuple[RowValues, list[RowValues]], stored: tuple[RowValues, list[RowValues]]
) -> str:
    names = [name for name in FILE_FIELDS if expected[0][name] != stored[0][name]]
    path = expected[0]["path"]
    if names:
        return f"{_FILES} holds another {', '.join(names)} for {path} than its body"
    if expected[1] != stored[1]:
        return f"{TraceRange._meta.db_table} holds other lines of {path} than its body"
    return ""


def _comparable(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("workspace_id", "changed_at", "revision_id")}


def _to_stored(trace: TraceEntry | None, files: list[TraceFile]) -> StoredTrace:
    if trace is None:
        rows = ProjectionRows({"imported": False}, [(_file_row(file), []) for file in files])
        return StoredTrace(rows, files[0].changed_at, b"", f"{_TRACES} has no row of it")
    entry = {
        "workspace_id": trace.workspace_id,
        "changed_at": trace.changed_at,
        "revision_id": trace.revision_id,
        "imported": trace.imported,
    }
    copies = {(file.workspace_id, file.changed_at, file.imported) for file in files}
    differs = copies - {(trace.workspace_id, trace.changed_at, trace.imported)}
    rows = ProjectionRows(
        entry, [(_file_row(file), [_range_row(lines) for lines in file.ranges.all()]) for file in files]
    )
    salt = bytes(files[0].salt) if files else b""
    problem = f"{_FILES} and {_TRACES} contradict each other" if differs else ""
    return StoredTrace(rows, trace.changed_at, salt, problem)


def _file_row(file: TraceFile) -> dict[str, Any]:
    return {name: getattr(file, name) for name in FILE_FIELDS}


def _range_row(lines: TraceRange) -> dict[str, Any]:
    return {name: getattr(lines, name) for name in RANGE_NAMES}
