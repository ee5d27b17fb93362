"""Liveness, readiness and metrics, answered without waiting for the database or for a thread."""

from __future__ import annotations

import json
import logging
import os
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from controlplane.shared.database.errors import (
    NO_ANSWER,
    READ_ONLY,
    describe_database_error,
    find_recent_failure,
)
from controlplane.shared.database.limits import limit_waits
from controlplane.shared.metrics import CONTENT_TYPE, render_metrics
from sessions.live.hold_open import Send

log = logging.getLogger(__name__)

PROBE_SECONDS = 1.0  # between two looks at the database
MAX_AGE_SECONDS = 5.0  # of a look: older means that the database hangs
DISK_BYTES = 64 * 1024  # written to see whether the disk takes it
MIGRATIONS_MISSING = "Migrations are missing: run migrate."
PROBES = frozenset({"/healthz", "/readyz", "/metrics"})


class Readiness:
    """Looks at the database from a thread of its own, so that whoever asks never waits for it."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._repeat, name="readiness", daemon=True)
        self._problem: str | None = "The server is starting."
        self._looked_at: float | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()

    @property
    def problem(self) -> str | None:
        """What keeps the server from recording decisions; None when it is ready."""
        if not self._thread.is_alive():
            return find_problem()
        if self._looked_at is not None and time.monotonic() - self._looked_at > MAX_AGE_SECONDS:
            return NO_ANSWER
        return self._problem

    def _repeat(self) -> None:
        limit_waits()
        while True:
            try:
                close_old_connections()
                problem = find_problem()
            except Exception:  # the loop must survive any fault of one look
                log.exception("readiness could not be looked at")
                problem = NO_ANSWER
            self._problem, self._looked_at = problem, time.monotonic()
            if self._stopping.wait(PROBE_SECONDS):
                close_old_connections()
                return


readiness = Readiness()
_migrated = threading.Event()


def find_problem() -> str | None:
    """Look at the disk and the database. A few short queries."""
    try:
        return find_disk_problem() or find_recent_failure() or _find_database_problem()
    except (DatabaseError, InterfaceError) as error:
        return describe_database_error(error)


def find_disk_problem() -> str | None:
    """Write to the data directory, and to SQLite's, as the next decision will."""
    directories = {Path(settings.DATA_DIR)}
    if connection.vendor == "sqlite":
        directories.add(Path(str(connection.settings_dict["NAME"])).absolute().parent)
    for directory in directories:
        try:
            if os.statvfs(directory).f_flag & os.ST_RDONLY:
                return READ_ONLY
            with tempfile.TemporaryFile(dir=directory) as file:
                file.write(b"\0" * DISK_BYTES)
                file.flush()
        except OSError as error:
            return describe_database_error(error)
    return None


def _find_database_problem() -> str | None:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SHOW transaction_read_only")
            if cursor.fetchone() == ("on",):
                return READ_ONLY
        else:
            cursor.execute("SELECT 1")
    return None if _is_migrated() else MIGRATIONS_MISSING


def _is_migrated() -> bool:
    """Ask until it is true: migrations are not taken back under a server that runs."""
    if not _migrated.is_set():
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            return False
        _migrated.set()
    return True


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer while the process lives. Ignores the database, so that an outage of it restarts no process."""
    return JsonResponse({"status": "ok"})


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 if the database responds, is migrated and takes what is written, else 503."""
    problem = readiness.problem
    return JsonResponse(_describe(problem), status=200 if problem is None else 503)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Expose this process's metrics in Prometheus' text format. No metric names a workspace."""
    return HttpResponse(render_metrics(), content_type=CONTENT_TYPE)


def _describe(problem: str | None) -> dict[str, Any]:
    return {"status": "ok"} if problem is None else {"status": "unavailable", "error": problem}


async def render_probe(path: str, send: Send, *, with_body: bool) -> None:
    """Answer one of `PROBES` on the event loop."""
    status, content_type = 200, "application/json"
    if path == "/metrics":
        body, content_type = render_metrics(), CONTENT_TYPE
    else:
        problem = readiness.problem if path == "/readyz" else None
        status = 200 if problem is None else 503
        body = json.dumps(_describe(problem)).encode()
    headers = [
        (b"content-type", content_type.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body if with_body else b""})
