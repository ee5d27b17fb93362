"""Insert many rows by plain SQL: for these narrow tables the ORM costs several times the insert itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from django.db import connection
from django.db.models import Model

RowValues = dict[str, Any]  # by column name
STATEMENT_ROWS = 250  # 15 columns of them stay well below SQLite's limit on parameters


def insert_rows(
    model: type[Model], rows: Sequence[RowValues], *, returning: bool = False, on_conflict: str = ""
) -> list[int]:
    """Insert rows of equal columns into the table of `model`, in order. Return their ids where `returning`.

    `on_conflict` is the SQL clause for a row that is there already. 1 statement for `STATEMENT_ROWS` rows.
    """
    table = model._meta.db_table
    ids: list[int] = []
    suffix = f" {on_conflict}" if on_conflict else " RETURNING id" if returning else ""
    with connection.cursor() as cursor:
        for start in range(0, len(rows), STATEMENT_ROWS):
            batch = rows[start : start + STATEMENT_ROWS]
            columns = tuple(batch[0])
            statement = _build_statement(table, columns, len(batch), suffix, _placeholder())
            cursor.execute(statement, _to_params(batch))
            if returning:
                ids += [row_id for (row_id,) in cursor.fetchall()]
    return ids


@lru_cache(maxsize=64)
def _build_statement(table: str, columns: tuple[str, ...], rows: int, suffix: str, placeholder: str) -> str:
    row = f"({', '.join([placeholder] * len(columns))})"
    values = ", ".join([row] * rows)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES {values}{suffix}"  # noqa: S608 - names of models


def _placeholder() -> str:
    """SQLite's own `?` spares Django translating thousands of `%s`; a log of queries needs `%s` though."""
    return "?" if connection.vendor == "sqlite" and not connection.queries_logged else "%s"


def _to_params(batch: Sequence[RowValues]) -> list[Any]:
    """Flatten the values in order, with times in the database's form."""
    return [
        _adapt_time(value) if type(value) is datetime else value for row in batch for value in row.values()
    ]


@lru_cache(maxsize=4096)
def _adapt_time(time: datetime) -> Any:
    """Cached, since many rows share a time. Asking Django for SQLite's form costs more than the insert."""
    if connection.vendor == "sqlite" and connection.timezone is UTC:
        return str(time.astimezone(UTC).replace(tzinfo=None))
    return connection.ops.adapt_datetimefield_value(time)
