"""Writers of one process take turns on SQLite, instead of asking again and again for its lock.

SQLite lets one transaction write at a time. Whoever finds its lock taken sleeps and asks again, ever more
rarely, so that under load callers wait for sleeps and not for each other. What writes often begins its
transaction here; the rest, and other processes, still meet at SQLite's own lock.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from django.db import connection, transaction

_write_lock = threading.Lock()
_no_lock = nullcontext()


@contextmanager
def write_transaction() -> Iterator[None]:
    """As `transaction.atomic()`. Within a transaction no turn is waited for: its lock is held already."""
    needs_lock = connection.vendor == "sqlite" and not connection.in_atomic_block
    with _write_lock if needs_lock else _no_lock, transaction.atomic():
        yield
