"""Lets `TransactionTestCase` (pytest-django's `transactional_db`) empty the ledger's tables.

Its flush is a DELETE or TRUNCATE, which the ledger's triggers refuse, as they should: there is no way
to lift them in the product. Around the flush of a *test* database this module takes the triggers off
and puts the very same ones back. Load it in a conftest: the import is enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from django.test import TransactionTestCase

SQLITE_TRIGGERS = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name LIKE 'traces_%%'"
POSTGRESQL_TRIGGERS = (
    "SELECT tgrelid::regclass::text, tgname FROM pg_trigger "
    "WHERE NOT tgisinternal AND tgname LIKE 'traces\\_%%'"
)
# A table with a deferred foreign key check waiting cannot be altered.
PENDING_CHECKS_NOW = "SET CONSTRAINTS ALL IMMEDIATE"


@contextmanager
def triggers_off() -> Iterator[None]:
    lift = _lifted_on_postgresql if connection.vendor == "postgresql" else _lifted_on_sqlite
    with lift():
        yield


@contextmanager
def _lifted_on_sqlite() -> Iterator[None]:
    triggers = _rows(SQLITE_TRIGGERS)
    for name, _ in triggers:
        _run(f"DROP TRIGGER {name}")
    try:
        yield
    finally:
        for _, sql in triggers:
            _run(sql)


@contextmanager
def _lifted_on_postgresql() -> Iterator[None]:
    triggers = _rows(POSTGRESQL_TRIGGERS)
    _run(PENDING_CHECKS_NOW)
    for table, name in triggers:
        _run(f"ALTER TABLE {table} DISABLE TRIGGER {name}")
    try:
        yield
    finally:
        _run(PENDING_CHECKS_NOW)
        for table, name in triggers:
            _run(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}")


def _rows(sql: str) -> list[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def _run(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


_flush = TransactionTestCase._fixture_teardown


def _flush_with_triggers_off(self: TransactionTestCase) -> None:
    with triggers_off():
        _flush(self)


if TransactionTestCase._fixture_teardown is _flush:
    TransactionTestCase._fixture_teardown = _flush_with_triggers_off
