"""Inserting many rows by plain SQL: for these narrow tables the ORM costs several times the insert itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from django.db import connection

Row = dict[str, Any]
STATEMENT_ROWS = 250  # 15 columns of them stay well below SQLite's limit on parameters


def insert_rows(
    table: str, rows: Sequence[Row], *, returning: bool = False, on_conflict: str = ""
) -> list[int]:
    """Insert rows of equal columns into `table`, in order; their ids where `returning`.

    `on_conflict` is the clause that says what becomes of a row that is there already. 1 statement for
    `STATEMENT_ROWS` rows.
    """
    ids: list[int] = []
    end = f" {on_conflict}" if on_conflict else " RETURNING id" if returning else ""
    with connection.cursor() as cursor:
        for at in range(0, len(rows), STATEMENT_ROWS):
            batch = rows[at : at + STATEMENT_ROWS]
            names = tuple(batch[0])
            cursor.execute(_statement(table, names, len(batch), end, _mark()), _values(batch))
            if returning:
                ids += [row_id for (row_id,) in cursor.fetchall()]
    return ids


@lru_cache(maxsize=64)
def _statement(table: str, names: tuple[str, ...], rows: int, end: str, mark: str) -> str:
    columns = ", ".join(names)
    marks = ", ".join([f"({', '.join([mark] * len(names))})"] * rows)
    return f"INSERT INTO {table} ({columns}) VALUES {marks}{end}"  # noqa: S608 - names are constants of this app


def _mark() -> str:
    """SQLite's own mark spares translating thousands of them, but a log of queries can't fill them in."""
    return "?" if connection.vendor == "sqlite" and not connection.queries_logged else "%s"


def _values(batch: Sequence[Row]) -> list[Any]:
    """The values in order, moments in the database's form."""
    return [_adapted(value) if type(value) is datetime else value for row in batch for value in row.values()]


@lru_cache(maxsize=4096)
def _adapted(moment: datetime) -> Any:
    """Many rows share a moment. SQLite's form is written here: asking for it costs more than an insert."""
    if connection.vendor == "sqlite" and connection.timezone is UTC:
        return str(moment.astimezone(UTC).replace(tzinfo=None))
    return connection.ops.adapt_datetimefield_value(moment)
