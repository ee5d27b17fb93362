"""Log a record as one line or one JSON object, whatever an agent wrote into it (CVE-2025-48432).

Both name the request that caused the record. Of errors that repeat, one a second is logged: an outage must
not fill the disk that the database needs.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Hashable
from datetime import UTC, datetime

from controlplane.server.request_id import current_request_id
from controlplane.shared.database.errors import describe_database_error, is_unavailable

MIN_SECONDS = 1.0  # between two records of one kind
MAX_KINDS = 1_000


class LineFormatter(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name}: {message}", style="{")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  logging calls it so
        record.message = "".join(
            char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
            for char in record.message
        )
        request_id = current_request_id.get()
        return f"{super().formatMessage(record)}{f' [{request_id}]' if request_id else ''}"


class JsonFormatter(logging.Formatter):
    """One object a line, in ASCII, so that no text can end its line."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": current_request_id.get() or None,
            "process": record.process,
            "thread": record.threadName,
            "error": self.formatException(record.exc_info) if record.exc_info else None,
        }
        return json.dumps({name: value for name, value in fields.items() if value is not None})


class RepeatFilter(logging.Filter):
    """Pass one error of a kind a second, and let the next one that passes say how many were left out.

    Records are of one kind when the same line of code wrote them about the same class of exception.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._seen: dict[Hashable, tuple[float, int]] = {}  # kind -> (when one passed, left out since)

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        kind = _find_kind(record)
        now = time.monotonic()
        with self._lock:
            passed_at, left_out = self._seen.get(kind, (-MIN_SECONDS, 0))
            if now - passed_at < MIN_SECONDS:
                self._seen[kind] = (passed_at, left_out + 1)
                return False
            if len(self._seen) >= MAX_KINDS:
                self._seen.clear()
            self._seen[kind] = (now, 0)
        if left_out:
            record.msg, record.args = f"{record.getMessage()} ({left_out} more like this were left out)", ()
        return True


def _find_kind(record: logging.LogRecord) -> tuple[object, ...]:
    """Return what makes records equal. A database that is away is one kind, and needs no traceback."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, Exception) and is_unavailable(error):
        record.msg, record.args = f"{record.getMessage()}: {describe_database_error(error)}", ()
        record.exc_info = None
        return (type(error),)
    return (record.name, record.levelno, record.pathname, record.lineno, type(error))
