"""Insert many rows by plain SQL: for these narrow tables the ORM costs several times the insert itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from django.db.models import Model

RowValues = dict[str, Any]  # by column name
STATEMENT_ROWS = 250  # 15 columns of them stay well below SQLite's limit on parameters


def insert_rows(
    model: type[Model], rows: Sequence[RowValues], *, returning: bool = False, on_conflict: str = ""
) -> list[int]:
    """Insert rows of equal columns into the table of `model`, in order. Return their ids where `returning`.

    `on_conflict` is the SQL clause for a row that is there already. 1 statement for `STATEMENT_ROWS` rows.
    """
    with connection.cursor() as cursor:
        return insert_rows_with(cursor, model, rows, returning=returning, on_conflict=on_conflict)


def insert_rows_with(
    cursor: CursorWrapper,
    model: type[Model],
    rows: Sequence[RowValues],
    *,
    returning: bool = False,
    on_conflict: str = "",
) -> list[int]:
    """Insert rows as `insert_rows` does, with a cursor that several tables share."""
    table = model._meta.db_table
    ids: list[int] = []
    suffix = f" {on_conflict}" if on_conflict else " RETURNING id" if returning else ""
    placeholder, adapt_time = _choose_forms(cursor.db)
    for start in range(0, len(rows), STATEMENT_ROWS):
        batch = rows[start : start + STATEMENT_ROWS]
        statement = _build_statement(table, tuple(batch[0]), len(batch), suffix, placeholder)
        cursor.execute(statement, _to_params(batch, adapt_time))
        if returning:
            ids += [row_id for (row_id,) in cursor.fetchall()]
    return ids


@lru_cache(maxsize=64)
def _build_statement(table: str, columns: tuple[str, ...], rows: int, suffix: str, placeholder: str) -> str:
    row = f"({', '.join([placeholder] * len(columns))})"
    values = ", ".join([row] * rows)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES {values}{suffix}"  # noqa: S608 - names of models


def _choose_forms(database: BaseDatabaseWrapper) -> tuple[str, Callable[[datetime], Any]]:
    """Return (the placeholder of a value, what converts a time) for a database.

    It is the cursor's own: each look at `django.db.connection` costs as much as hashing an entry. SQLite's
    `?` spares Django translating thousands of `%s`; a log of queries needs `%s` though. Asking Django for
    SQLite's form of a time costs more than the insert.
    """
    if database.vendor != "sqlite":
        return "%s", database.ops.adapt_datetimefield_value
    placeholder = "%s" if database.queries_logged else "?"
    return placeholder, _format_utc if database.timezone is UTC else database.ops.adapt_datetimefield_value


def _to_params(batch: Sequence[RowValues], adapt_time: Callable[[datetime], Any]) -> list[Any]:
    """Flatten the values in order, with times in the database's form."""
    return [
        adapt_time(value) if type(value) is datetime else value for row in batch for value in row.values()
    ]


@lru_cache(maxsize=4096)
def _format_utc(time: datetime) -> str:
    """Format a time as SQLite's columns hold it. Cached, since many rows share a time."""
    return str(time.astimezone(UTC).replace(tzinfo=None))
