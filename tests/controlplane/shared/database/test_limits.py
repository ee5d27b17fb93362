"""How long the database waits for a thread that said nothing within a transaction."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from controlplane.shared.database.limits import limit_waits

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has no sessions"),
]


def show(names: tuple[str, ...]) -> dict[str, str]:
    with connection.cursor() as cursor:
        return {name: cursor.execute(f"SHOW {name}").fetchone()[0] for name in names}


def test_sessions_that_were_left_in_a_transaction_end():
    assert show(("idle_in_transaction_session_timeout",)) == {"idle_in_transaction_session_timeout": "1min"}


def test_the_database_looks_whether_its_clients_are_there():
    names = ("tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count")
    assert list(show(names).values()) == ["5", "2", "3"]


def test_those_of_the_gate_end_sooner():
    shown: dict[str, str] = {}

    def work() -> None:
        limit_waits(4)
        shown.update(show(("statement_timeout", "idle_in_transaction_session_timeout", "lock_timeout")))
        connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert shown == {
        "statement_timeout": "4s",
        "idle_in_transaction_session_timeout": "10s",
        "lock_timeout": "4s",
    }
