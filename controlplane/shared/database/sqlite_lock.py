"""Serialize the writers of one process on SQLite with a lock of our own.

SQLite allows one write transaction at a time, and a writer that finds its lock held polls with growing
sleeps, so that under load callers wait for sleeps instead of each other. Frequent writers begin their
transaction here; others, and other processes, still meet SQLite's own lock.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from django.conf import settings
from django.db import OperationalError, connection, transaction

_write_lock = threading.Lock()


@contextmanager
def write_transaction() -> Iterator[None]:
    """Begin a transaction as `transaction.atomic()` does, after waiting for this process's other writers."""
    # Inside of a transaction SQLite's lock is held already: waiting for another writer would deadlock.
    needs_lock = connection.vendor == "sqlite" and not connection.in_atomic_block
    with _turn() if needs_lock else nullcontext(), transaction.atomic():
        yield


@contextmanager
def _turn() -> Iterator[None]:
    """Wait for this process's other writers, as long as SQLite itself waits for other processes."""
    if not _write_lock.acquire(timeout=settings.WAIT_SECONDS):
        raise OperationalError("database is locked by another writer of this process")
    try:
        yield
    finally:
        _write_lock.release()
