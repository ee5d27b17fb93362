"""Intents, touches and rows of a map without a database."""

from __future__ import annotations

from datetime import UTC, datetime

from traces.counts.counters import to_microseconds
from traces.entries.known_intents import KnownIntent
from traces.filemap.touches import Touch

DAY = datetime(2026, 2, 21, tzinfo=UTC)


def intent(number, *scope, status="IN_PROGRESS", removed=False):
    return KnownIntent(f"INT-{number}", f"Intent {number}", status, scope, removed)


def touch(path, intent_id="INT-1", entries=1):
    return Touch(path, intent_id, entries, to_microseconds(DAY))
