"""Choose one of several server processes for the work that is to run once: seal, expire, deliver, anchor.

On PostgreSQL the leader is who holds an advisory lock of its session. The lock goes with the session, so the
others take it within a second when the leader ends or is killed. A leader that hangs or is cut off stops to
beat, and the database ends its session. On SQLite one process serves, and leads.

What the leader does is safe to be done twice, since a process that hangs may go on when another leads.
"""

from __future__ import annotations

import logging
import threading

from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from controlplane.shared.metrics import LEADER

LOCK_KEY = 0x1CF1 << 40  # beside those of the sealer, one a workspace
BEAT_SECONDS = 1.0
SILENCE_SECONDS = 10  # after which the database ends the session of a leader that does not beat
OPTIONS = f"-c idle_session_timeout={SILENCE_SECONDS * 1000} -c statement_timeout=4000"

log = logging.getLogger(__name__)


class Leadership:
    """Tries to lead, once a second, from a thread of its own."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._leads = threading.Event()
        self._thread = threading.Thread(target=self._repeat, name="leader", daemon=True)
        self._connection: BaseDatabaseWrapper | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout_seconds: float = 2.0) -> None:
        """Let another process lead."""
        self._stopping.set()
        self._thread.join(timeout_seconds)

    @property
    def is_held(self) -> bool:
        return self._leads.is_set()

    def beat(self) -> None:
        """Take the lock, or make sure that it is still held."""
        try:
            leads = self._hold_lock()
        except (DatabaseError, InterfaceError):
            self._drop_connection()
            leads = False
        self._set(leads=leads)

    def _repeat(self) -> None:
        while not self._stopping.is_set():
            try:
                self.beat()
            except Exception:  # the thread must survive any fault of one beat
                log.exception("could not find out who leads; trying again")
                self._set(leads=False)
            self._stopping.wait(BEAT_SECONDS)
        self._set(leads=False)
        self._drop_connection()

    def _set(self, *, leads: bool) -> None:
        if leads and not self.is_held:
            log.info("this process now runs the background work")
            self._leads.set()
        elif self.is_held and not leads:
            log.warning("this process no longer runs the background work")
            self._leads.clear()
        LEADER.set(leads)

    def _hold_lock(self) -> bool:
        """Return whether the lock is held. A session that ended since the last beat has lost it."""
        if self._connection is None:
            self._connection = _open_connection()
        if self._connection.vendor != "postgresql":
            return True
        with self._connection.cursor() as cursor:
            if self.is_held:
                cursor.execute("SELECT 1")
                return True
            cursor.execute("SELECT pg_try_advisory_lock(%s)", [LOCK_KEY])
            return bool(cursor.fetchone()[0])

    def _drop_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _open_connection() -> BaseDatabaseWrapper:
    """Return a connection that no thread shares, so that nothing but a beat can end its session."""
    wrapper = connections.create_connection(DEFAULT_DB_ALIAS)
    if wrapper.vendor == "postgresql":
        options = dict(wrapper.settings_dict["OPTIONS"])
        options["options"] = f"{options.get('options', '')} {OPTIONS}".strip()
        wrapper.settings_dict = {**wrapper.settings_dict, "OPTIONS": options}
    return wrapper
