"""Bound how long a thread waits for the database.

A database that is slow, locked or hung is unavailable after `GATE_SECONDS`: whoever asks gets an answer then,
and the thread is free again. On SQLite the only wait is for its lock, which the settings bound.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

GATE_SECONDS = 4  # for a statement of the gate
LONG_SECONDS = 15  # for a statement of a page or an export
GRACE_SECONDS = 1  # the server ends a statement by itself in time, unless it hangs
LEFT_SECONDS = (
    6  # more, and the server ends a session that says nothing within a transaction (see the settings)
)
LOOK_SECONDS = 0.5  # between two rounds of the watchdog: nothing tells it that a statement hangs

log = logging.getLogger(__name__)


@dataclass(eq=False)
class WatchedConnection:
    """A connection of one thread; `since` is when its statement began, None between statements."""

    wrapper: BaseDatabaseWrapper
    seconds: float
    since: float | None = None

    def watch(self, execute: Callable[..., Any], sql: Any, params: Any, many: Any, context: Any) -> Any:
        self.since = time.monotonic()
        try:
            return execute(sql, params, many, context)
        finally:
            self.since = None

    def cut_if_hung(self, now: float) -> None:
        """Shut the socket of a statement that the server did not end in time: its thread gets an error."""
        since = self.since
        if since is None or now - since < self.seconds + GRACE_SECONDS:
            return
        driver = self.wrapper.connection
        if driver is None or driver.closed:
            return
        self.since = None
        log.error("a statement hung for %d seconds: its connection was cut", now - since)
        with socket.socket(fileno=os.dup(driver.fileno())) as copy:
            copy.shutdown(socket.SHUT_RDWR)


_watched: dict[int, WatchedConnection] = {}  # by thread
_lock = threading.Lock()


def limit_waits(seconds: float = GATE_SECONDS) -> None:
    """Bound the statements of this thread, from its next connection on. Does nothing on SQLite."""
    wrapper = connections[DEFAULT_DB_ALIAS]
    known = _watched.get(threading.get_ident())
    if wrapper.vendor != "postgresql" or (known is not None and known.wrapper is wrapper):
        return
    options = dict(wrapper.settings_dict["OPTIONS"])
    idle = seconds + LEFT_SECONDS
    limits = (
        f"-c statement_timeout={seconds * 1000:.0f} -c idle_in_transaction_session_timeout={idle * 1000:.0f}"
    )
    options["options"] = f"{options.get('options', '')} {limits}".strip()
    wrapper.close()
    wrapper.settings_dict = {**wrapper.settings_dict, "OPTIONS": options}
    watched = WatchedConnection(wrapper, seconds)
    wrapper.execute_wrappers.append(watched.watch)
    with _lock:
        if not _watched:
            threading.Thread(target=_watch_all, name="database watchdog", daemon=True).start()
        _watched[threading.get_ident()] = watched


def _watch_all() -> None:
    while True:
        time.sleep(LOOK_SECONDS)
        with _lock:
            watched = list(_watched.values())
        for one in watched:
            with suppress(OSError, psycopg.Error):  # it was closed meanwhile
                one.cut_if_hung(time.monotonic())
