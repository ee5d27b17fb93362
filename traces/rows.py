"""Inserting many rows by plain SQL: for these narrow tables the ORM costs several times the insert itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
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
            cursor.execute(_statement(table, tuple(batch[0]), len(batch), end), _values(batch))
            if returning:
                ids += [row_id for (row_id,) in cursor.fetchall()]
    return ids


@lru_cache(maxsize=64)
def _statement(table: str, names: tuple[str, ...], rows: int, end: str) -> str:
    columns = ", ".join(names)
    marks = ", ".join([f"({', '.join(['%s'] * len(names))})"] * rows)
    return f"INSERT INTO {table} ({columns}) VALUES {marks}{end}"  # noqa: S608 - names are constants of this app


def _values(batch: Sequence[Row]) -> list[Any]:
    """The values in order; a moment that many rows share is put into the database's form once."""
    adapt = connection.ops.adapt_datetimefield_value
    values = [value for row in batch for value in row.values()]
    moments = {value: adapt(value) for value in values if type(value) is datetime}
    return [moments[value] if type(value) is datetime else value for value in values]
