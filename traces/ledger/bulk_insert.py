"""Insert many rows with ids reserved beforehand, by the cheapest way that each database has.

Rows are packed where there is time, maybe in another process, and written where there is a connection:
SQLite takes plain tuples, PostgreSQL lines of its COPY format. Both go in behind the ids that only the
writer knows: the row's own, or those of the rows it belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain
from operator import add
from typing import Any

from django.db import connection
from django.db.models import Model

PackedRow = tuple[Any, ...] | str
POSTGRESQL = "postgresql"
STATEMENT_ROWS = 100  # of one INSERT on SQLite

# What a large import may take of SQLite. The indexes of ids and paths are written all over: with less memory
# a page that was evicted is read again, and one that was checkpointed early is written again.
_BULK_PRAGMAS = {"cache_size": -128 * 1024, "wal_autocheckpoint": 64 * 1024}  # KiB, pages: 128 MiB each

_COPY_SPECIAL = re.compile(r"[\\\t\n\r]")
_COPY_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


@dataclass(frozen=True, slots=True)
class RowFormat:
    """How a database wants rows. `pack` takes text, numbers, bytes and None; `format_time` writes a time."""

    pack: Callable[[Iterable[Any]], PackedRow]
    format_time: Callable[[datetime], str]


def row_format(vendor: str) -> RowFormat:
    return _FORMATS[vendor]


def column_names(model: type[Model], *, without_id: bool = False) -> tuple[str, ...]:
    """Return the columns of a model's table in the order of its fields."""
    columns = (field.column for field in model._meta.concrete_fields if field.column)
    return tuple(column for column in columns if not (without_id and column == "id"))


def reserve_ids(model: type[Model], count: int) -> Sequence[int]:
    """Return row ids for rows to come, ascending. 1 query.

    On SQLite they are ours only while the write lock is held; every transaction here takes it at its begin.
    """
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == POSTGRESQL:
            cursor.execute("SELECT nextval(%s) FROM generate_series(1, %s)", [f"{table}_id_seq", count])
            return [row_id for (row_id,) in cursor.fetchall()]
        cursor.execute("SELECT max(seq) FROM sqlite_sequence WHERE name = %s", [table])
        last = cursor.fetchone()[0] or 0
    return range(last + 1, last + 1 + count)


def analyze_once(model: type[Model]) -> None:
    """Run ANALYZE on PostgreSQL for a table without statistics. 1 query, and 1 statement that once.

    Until then the planner takes one index for as good as another, and may read a whole workspace for every
    batch; autovacuum would look only after a commit.
    """
    if connection.vendor == POSTGRESQL:
        table = model._meta.db_table
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT 1 FROM pg_stats WHERE schemaname = ANY (current_schemas(false)) AND tablename = %s",
                [table],
            )
            if not cursor.fetchall():
                cursor.execute(f"ANALYZE {table}")


@contextmanager
def bulk_settings() -> Iterator[None]:
    """Give SQLite more memory and a longer log while many rows are written. 4 statements before, 2 after."""
    if connection.vendor == POSTGRESQL:
        yield
        return
    with connection.cursor() as cursor:
        previous = {name: cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in _BULK_PRAGMAS}
    _set_pragmas(_BULK_PRAGMAS)
    try:
        yield
    finally:
        _set_pragmas(previous)


def _set_pragmas(values: dict[str, int]) -> None:
    with connection.cursor() as cursor:
        for name, value in values.items():
            cursor.execute(f"PRAGMA {name} = {value}")


def insert_packed(
    model: type[Model], columns: Sequence[str], rows: Sequence[PackedRow], *ids: Iterable[int]
) -> None:
    """Insert packed rows, each behind its ids; `columns` name both.

    1 statement on PostgreSQL, 1 for `STATEMENT_ROWS` rows on SQLite.

    Raise IntegrityError when one of them is there already. The transaction or savepoint has to be rolled
    back then: some of the rows may be written.
    """
    if rows:
        insert = _copy if connection.vendor == POSTGRESQL else _insert
        insert(model._meta.db_table, columns, rows, ids)


def _copy(table: str, columns: Sequence[str], rows: Sequence[Any], ids: Sequence[Iterable[int]]) -> None:
    line = "%d\t" * len(ids) + "%s\n"
    text = "".join([line % values for values in zip(*ids, rows, strict=True)])
    statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(statement) as copy:
        copy.write(text)


def _insert(table: str, columns: Sequence[str], rows: Sequence[Any], ids: Sequence[Iterable[int]]) -> None:
    complete_rows = list(map(add, zip(*ids, strict=True), rows))
    with connection.wrap_database_errors:
        # Many rows a statement, since each statement looks through all of SQLite's sequences twice.
        for start in range(0, len(complete_rows), STATEMENT_ROWS):
            batch = complete_rows[start : start + STATEMENT_ROWS]
            statement = _insert_statement(table, tuple(columns), len(batch))
            # Past Django's cursor, which would search each statement for a thousand placeholders.
            connection.connection.execute(statement, list(chain.from_iterable(batch)))


@lru_cache(maxsize=64)
def _insert_statement(table: str, columns: tuple[str, ...], rows: int) -> str:
    values = ", ".join([f"({', '.join('?' * len(columns))})"] * rows)
    # OR FAIL spares SQLite a copy of every page that a statement changes: callers roll back all of it anyway.
    return f"INSERT OR FAIL INTO {table} ({', '.join(columns)}) VALUES {values}"  # noqa: S608 - names of models


@lru_cache(maxsize=4096)
def _format_sqlite_time(time: datetime) -> str:
    """The form in which Django stores a time in SQLite."""
    return str(time.astimezone(UTC).replace(tzinfo=None))


def _pack_copy_line(values: Iterable[Any]) -> PackedRow:
    fields = list(values)
    escape = _COPY_SPECIAL.search("".join([value for value in fields if type(value) is str])) is not None
    return "\t".join([_format_copy_field(value, escape=escape) for value in fields])


def _format_copy_field(value: Any, *, escape: bool) -> str:
    kind = type(value)
    if kind is str:
        return _COPY_SPECIAL.sub(lambda match: _COPY_ESCAPES[match[0]], value) if escape else value
    if kind is bytes:
        return f"\\\\x{value.hex()}"
    return "\\N" if value is None else str(value)


_FORMATS = {"sqlite": RowFormat(tuple, _format_sqlite_time), POSTGRESQL: RowFormat(_pack_copy_line, str)}
