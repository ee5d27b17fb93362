"""Rebuild the rows of trace entries from the bodies, after verification has named some that were changed.

The triggers of these tables are lifted for one transaction. Evidence is never touched.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction
from django.db.models import Q

from traces.counts.counters import recount
from traces.entries.projections import (
    ProjectionRows,
    build_rows,
    compute_digest,
    derive_salt,
    write_rows,
)
from traces.entry_schema import parse_entry
from traces.ledger.append import read_body
from traces.models import EntryKind, LedgerEntry, TraceEntry, TraceFile, TraceRange
from traces.verification.trace_rows import is_imported, read_sealed_digest

BATCH_SIZE = 250
TABLES = tuple(model._meta.db_table for model in (TraceRange, TraceFile, TraceEntry))


def rebuild_projections(workspace_id: int) -> int:
    """Rebuild the rows of a workspace and forget its counts. Return the number of entries read.

    Rows of archived entries stay, since their bodies are not in the database.
    """
    with transaction.atomic(), _without_triggers():
        in_workspace = Q(workspace_id=workspace_id) | Q(entry__workspace_id=workspace_id)
        TraceFile.objects.filter(in_workspace, entry__body__isnull=False).delete()
        TraceEntry.objects.filter(in_workspace, entry__body__isnull=False).delete()
        entries = LedgerEntry.objects.for_workspace(workspace_id).of_kind(EntryKind.TRACE).with_body()
        batch: list[tuple[int, ProjectionRows]] = []
        count = 0
        for entry in entries.oldest_first().iterator(chunk_size=BATCH_SIZE):
            if (rows := _rebuild_rows(entry)) is not None:
                count += 1
                batch.append((entry.pk, rows))
            if len(batch) == BATCH_SIZE:
                write_rows(batch)
                batch = []
        write_rows(batch)
        recount(workspace_id)
    return count


def _rebuild_rows(entry: LedgerEntry) -> ProjectionRows | None:
    """Return the rows of an entry, None without its body.

    The sealed digest says whether the entry was imported; in older entries the name of a source does.
    """
    body = read_body(entry)
    if body is None:
        return None
    parsed, digest = parse_entry(body), read_sealed_digest(entry)
    salt = derive_salt(bytes(entry.body.salt)) if digest and parsed.files else b""
    all_rows = [
        build_rows(entry.workspace_id, parsed, parsed.changed_at, imported=imported, salt=salt)
        for imported in (is_imported(entry), not is_imported(entry))
    ]
    sealed = (rows for rows in all_rows if compute_digest(rows, parsed.changed_at, salt) == digest)
    return next(sealed, all_rows[0])


@contextmanager
def _without_triggers() -> Iterator[None]:
    lift = _lift_on_postgresql if connection.vendor == "postgresql" else _lift_on_sqlite
    with lift():
        yield


@contextmanager
def _lift_on_sqlite() -> Iterator[None]:
    names = ", ".join(["%s"] * len(TABLES))
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name IN ({names})",  # noqa: S608 - placeholders
            TABLES,
        )
        triggers = cursor.fetchall()
        for name, _ in triggers:
            cursor.execute(f"DROP TRIGGER {name}")
    yield
    with connection.cursor() as cursor:
        for _, sql in triggers:
            cursor.execute(sql)


@contextmanager
def _lift_on_postgresql() -> Iterator[None]:
    _alter_triggers("DISABLE TRIGGER")
    yield
    _alter_triggers("ENABLE ALWAYS TRIGGER")


def _alter_triggers(action: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a table with checks waiting cannot be altered
        for table in TABLES:
            for suffix in ("rows", "all"):
                cursor.execute(f"ALTER TABLE {table} {action} {table}_{suffix}")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
