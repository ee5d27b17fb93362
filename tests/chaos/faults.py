"""The faults: what each breaks, and how. A fault lasts for as long as its context does."""

from __future__ import annotations

import contextlib
import signal
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

import psycopg

from tests.chaos.installation import POSTGRESQL, SQLITE, Installation

SLOW_SECONDS = 0.3  # for each message to and from the database
ENDS_EVERY_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Fault:
    database: str
    name: str
    how: str
    begin: Callable[[Installation], AbstractContextManager[None]]


@contextlib.contextmanager
def kill_one(installation: Installation) -> Iterator[None]:
    node = installation.nodes[0]
    node.kill()
    yield
    node.start()


@contextlib.contextmanager
def freeze_one(installation: Installation) -> Iterator[None]:
    process = installation.nodes[0].process
    assert process is not None
    process.send_signal(signal.SIGSTOP)
    yield
    process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def restart_each(installation: Installation) -> Iterator[None]:
    for node in installation.nodes:
        node.stop()
        node.start()
    yield


@contextlib.contextmanager
def lock_file(installation: Installation) -> Iterator[None]:
    with contextlib.closing(
        sqlite3.connect(installation.folder / "icp.sqlite3", isolation_level=None, check_same_thread=False)
    ) as lock:
        lock.execute("BEGIN IMMEDIATE")
        yield
        lock.execute("ROLLBACK")


@contextlib.contextmanager
def fill_disk(installation: Installation) -> Iterator[None]:
    filler = installation.folder / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    yield
    filler.unlink()


@contextlib.contextmanager
def lock_table(installation: Installation) -> Iterator[None]:
    with psycopg.connect(installation.database_url) as connection:
        connection.execute("LOCK TABLE traces_ledgerentry IN ACCESS EXCLUSIVE MODE")
        yield
        connection.rollback()


@contextlib.contextmanager
def end_sessions(installation: Installation) -> Iterator[None]:
    """End every session of the database again and again, as when it restarts."""
    done = threading.Event()
    statement = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid() AND usename = current_user"
    )

    def end() -> None:
        with psycopg.connect(installation.database_url, autocommit=True) as connection:
            while not done.wait(ENDS_EVERY_SECONDS):
                connection.execute(statement)

    ending = threading.Thread(target=end)
    ending.start()
    yield
    done.set()
    ending.join()


@contextlib.contextmanager
def cut_database(installation: Installation) -> Iterator[None]:
    assert installation.database is not None
    installation.database.shut()
    yield
    installation.database.open = True


@contextlib.contextmanager
def hang_database(installation: Installation) -> Iterator[None]:
    assert installation.database is not None
    installation.database.flows.clear()
    yield
    installation.database.flows.set()


@contextlib.contextmanager
def slow_database(installation: Installation) -> Iterator[None]:
    assert installation.database is not None
    installation.database.delay_seconds = SLOW_SECONDS
    yield
    installation.database.delay_seconds = 0.0


@contextlib.contextmanager
def cut_redis(installation: Installation) -> Iterator[None]:
    assert installation.redis is not None
    installation.redis.shut()
    yield
    installation.redis.open = True


FAULTS = (
    Fault(SQLITE, "the server is killed", "`kill -9`, started again later", kill_one),
    Fault(SQLITE, "the server hangs", "SIGSTOP, later SIGCONT", freeze_one),
    Fault(SQLITE, "the server is restarted", "SIGTERM, started again at once", restart_each),
    Fault(SQLITE, "the database is locked", "another process holds `BEGIN IMMEDIATE`", lock_file),
    Fault(SQLITE, "the disk is full", "a file fills the disk of the data folder", fill_disk),
    Fault(POSTGRESQL, "one of two servers is killed", "`kill -9` of the first, which may lead", kill_one),
    Fault(POSTGRESQL, "one of two servers hangs", "SIGSTOP of the first, later SIGCONT", freeze_one),
    Fault(POSTGRESQL, "both are restarted in turn", "SIGTERM, started again, then the other", restart_each),
    Fault(POSTGRESQL, "a table is locked", "`LOCK TABLE … ACCESS EXCLUSIVE` of the ledger", lock_table),
    Fault(
        POSTGRESQL,
        "sessions of the database end",
        "`pg_terminate_backend` of all, twice a second",
        end_sessions,
    ),
    Fault(POSTGRESQL, "the database is away", "connections are cut and refused", cut_database),
    Fault(POSTGRESQL, "the database hangs", "connections stay open, nothing comes through", hang_database),
    Fault(POSTGRESQL, "the database is slow", "each message takes 0.3 s longer", slow_database),
    Fault(POSTGRESQL, "Redis is away", "connections are cut and refused", cut_redis),
)


def list_faults(installation: Installation) -> list[Fault]:
    """Those of its database; a disk is filled only where it is one of its own."""
    faults = [fault for fault in FAULTS if fault.database == installation.kind]
    return [fault for fault in faults if fault.begin is not fill_disk or installation.has_own_disk]
