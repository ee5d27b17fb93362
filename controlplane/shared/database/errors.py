"""Say what is wrong with the database, for callers and operators, without a word of its own texts."""

from __future__ import annotations

import time

from django.db import DatabaseError, DataError, IntegrityError, InterfaceError, OperationalError

NO_ANSWER = "The database does not answer. Try again shortly."
DISK_FULL = "The disk of the database is full, so nothing can be recorded. Free space on it."
READ_ONLY = "The database is read-only, so nothing can be recorded. Check its disk and its role."
BUSY = "The database was locked for too long. Try again shortly."
RETRY_SECONDS = 2

# PostgreSQL's codes (appendix A of its manual), then parts of SQLite's and the system's texts, in lower case.
_CODES = {"53100": DISK_FULL, "25006": READ_ONLY, "55P03": BUSY, "57014": BUSY, "40P01": BUSY}
_TEXTS = (
    ("disk is full", DISK_FULL),
    ("no space left", DISK_FULL),
    ("disk quota exceeded", DISK_FULL),
    ("readonly database", READ_ONLY),
    ("read-only", READ_ONLY),
    ("is locked", BUSY),
)


RECENT_SECONDS = 10.0
_failures: dict[str, float] = {}  # sentence -> when it was last seen, in seconds of the monotonic clock


def describe_database_error(error: Exception) -> str:
    """Return a sentence that names the cause where it is known, and remember it for `find_recent_failure`."""
    sentence = _describe(error)
    if sentence in {DISK_FULL, READ_ONLY}:
        _failures[sentence] = time.monotonic()
    return sentence


def find_recent_failure() -> str | None:
    """Return what kept a request of the last seconds from being recorded, where it was the disk."""
    now = time.monotonic()
    return next((text for text, seen in _failures.items() if now - seen < RECENT_SECONDS), None)


def _describe(error: Exception) -> str:
    cause = error.__cause__
    code = getattr(cause, "sqlstate", None)
    if code in _CODES:
        return _CODES[code]
    text = str(error).lower()
    return next((sentence for part, sentence in _TEXTS if part in text), NO_ANSWER)


def is_unavailable(error: Exception) -> bool:
    """Whether the database, and not the statement, is at fault: the same statement may succeed later."""
    return isinstance(error, OperationalError | InterfaceError) or (
        isinstance(error, DatabaseError) and not isinstance(error, DataError | IntegrityError)
    )
