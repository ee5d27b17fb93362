"""Writing many rows whose ids are known before: the cheapest way that each database has.

Rows are packed where there is time, maybe in another process, and written where there is a connection:
SQLite takes plain tuples, PostgreSQL lines of its COPY format. Both go in behind the numbers that only the
writer knows: their own row id, or the one of the row that they belong to.
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

Packed = tuple[Any, ...] | str
POSTGRESQL = "postgresql"
ROWS = 100  # of one statement on SQLite

# What a large import may take of SQLite: the indexes of ids and paths are written all over, so that a page
# which had to leave memory is read again, and one that went into the database early goes there again.
_ROOM = {"cache_size": -128 * 1024, "wal_autocheckpoint": 64 * 1024}  # KiB, pages: 128 MiB each

_ODD = re.compile(r"[\\\t\n\r]")  # what COPY has a meaning for
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


@dataclass(frozen=True, slots=True)
class Form:
    """How a database wants rows: `pack` takes texts, numbers, bytes and None, `moment` writes a moment."""

    pack: Callable[[Iterable[Any]], Packed]
    moment: Callable[[datetime], str]


def form_of(vendor: str) -> Form:
    return _FORMS[vendor]


def fresh_ids(table: str, count: int) -> Sequence[int]:
    """Row ids for rows to come, ascending. 1 query.

    SQLite gives them to whoever holds the write lock, as every transaction here does from its beginning.
    """
    with connection.cursor() as cursor:
        if connection.vendor == POSTGRESQL:
            cursor.execute("SELECT nextval(%s) FROM generate_series(1, %s)", [f"{table}_id_seq", count])
            return [row_id for (row_id,) in cursor.fetchall()]
        cursor.execute("SELECT max(seq) FROM sqlite_sequence WHERE name = %s", [table])
        last = cursor.fetchone()[0] or 0
    return range(last + 1, last + 1 + count)


def learn(table: str) -> None:
    """Let PostgreSQL see what a table holds, where it never looked. 1 query, and 1 statement that once.

    Until then it takes one index for as good as another, and may read a whole workspace for every batch; it
    would look by itself only after a commit.
    """
    if connection.vendor == POSTGRESQL:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT 1 FROM pg_stats WHERE schemaname = ANY (current_schemas(false)) AND tablename = %s",
                [table],
            )
            if not cursor.fetchall():
                cursor.execute(f"ANALYZE {table}")


@contextmanager
def room() -> Iterator[None]:
    """While many rows are written: more memory and a longer log for SQLite. 4 statements before, 2 after."""
    if connection.vendor == POSTGRESQL:
        yield
        return
    with connection.cursor() as cursor:
        usual = {name: cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in _ROOM}
    _set(_ROOM)
    try:
        yield
    finally:
        _set(usual)


def _set(values: dict[str, int]) -> None:
    with connection.cursor() as cursor:
        for name, value in values.items():
            cursor.execute(f"PRAGMA {name} = {value}")


def write(table: str, columns: Sequence[str], rows: Sequence[Packed], *numbers: Iterable[int]) -> None:
    """Insert packed rows, each behind its numbers; `columns` name both.

    1 statement on PostgreSQL, 1 for `ROWS` rows on SQLite.

    Raises IntegrityError when one of them is there already. The transaction or savepoint has to be rolled
    back then: some of the rows may be written.
    """
    if rows:
        (_copy if connection.vendor == POSTGRESQL else _insert)(table, columns, rows, numbers)


def _copy(table: str, columns: Sequence[str], rows: Sequence[Any], numbers: Sequence[Iterable[int]]) -> None:
    line = "%d\t" * len(numbers) + "%s\n"
    text = "".join([line % values for values in zip(*numbers, rows, strict=True)])
    statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(statement) as copy:
        copy.write(text)


def _insert(
    table: str, columns: Sequence[str], rows: Sequence[Any], numbers: Sequence[Iterable[int]]
) -> None:
    """Many rows a statement, since each looks through all of SQLite's sequences twice. Past Django's cursor,
    which would look for a thousand marks in each. OR FAIL spares SQLite a copy of every page that a statement
    changes: whoever writes here gives up all of it when it fails."""
    whole = list(map(add, zip(*numbers, strict=True), rows))
    with connection.wrap_database_errors:
        for at in range(0, len(whole), ROWS):
            part = whole[at : at + ROWS]
            connection.connection.execute(
                _insertion(table, tuple(columns), len(part)), list(chain.from_iterable(part))
            )


@lru_cache(maxsize=64)
def _insertion(table: str, columns: tuple[str, ...], rows: int) -> str:
    marks = f"({', '.join('?' * len(columns))})"
    return f"INSERT OR FAIL INTO {table} ({', '.join(columns)}) VALUES {', '.join([marks] * rows)}"  # noqa: S608 - names are constants of this app


@lru_cache(maxsize=4096)
def _in_utc(moment: datetime) -> str:
    """As Django keeps it in SQLite."""
    return str(moment.astimezone(UTC).replace(tzinfo=None))


def _copied(values: Iterable[Any]) -> Packed:
    fields = list(values)
    escape = _ODD.search("".join([value for value in fields if type(value) is str])) is not None
    return "\t".join([_field(value, escape=escape) for value in fields])


def _field(value: Any, *, escape: bool) -> str:
    kind = type(value)
    if kind is str:
        return _ODD.sub(lambda found: _ESCAPES[found[0]], value) if escape else value
    if kind is bytes:
        return f"\\\\x{value.hex()}"
    return "\\N" if value is None else str(value)


_FORMS = {"sqlite": Form(tuple, _in_utc), POSTGRESQL: Form(_copied, str)}
