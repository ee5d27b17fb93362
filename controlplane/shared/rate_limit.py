"""A limit on how often somebody may do a thing: a bucket that fills evenly and holds a burst."""

from __future__ import annotations

import time
from collections.abc import Hashable

_MAX_KEYS = 10_000


class TokenBuckets:
    """One bucket a key. Counts in this process only: a guard against runaways and guessers, no accounting."""

    def __init__(self) -> None:
        self._levels: dict[Hashable, tuple[float, float]] = {}  # key -> (left, at)

    def take(self, key: Hashable, *, per_second: float, burst: float) -> float:
        """Seconds until the next one is free; 0 when this one was, and is taken now."""
        now = time.monotonic()
        available, updated_at = self._levels.get(key, (burst, now))
        available = min(burst, available + (now - updated_at) * per_second)
        if len(self._levels) >= _MAX_KEYS:
            self._levels.clear()
        self._levels[key] = (available - 1 if available >= 1 else available, now)
        return 0.0 if available >= 1 else (1 - available) / per_second

    def forget(self, key: Hashable) -> None:
        self._levels.pop(key, None)

    def forget_all(self) -> None:
        self._levels.clear()
