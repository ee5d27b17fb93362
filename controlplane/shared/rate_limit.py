"""Token buckets: limit a rate, allow a burst."""

from __future__ import annotations

import time
from collections.abc import Hashable

_MAX_KEYS = 10_000


class TokenBuckets:
    """One bucket per key, in this process only: a guard against runaway agents and password guessing."""

    def __init__(self) -> None:
        self._levels: dict[Hashable, tuple[float, float]] = {}  # key -> (available, updated_at)

    def take(self, key: Hashable, *, per_second: float, burst: float) -> float:
        """Take one token. Return 0, or the seconds until the next one if none is available."""
        now = time.monotonic()
        available, updated_at = self._levels.get(key, (burst, now))
        available = min(burst, available + (now - updated_at) * per_second)
        if len(self._levels) >= _MAX_KEYS:  # bounded memory is worth more than the counts of a flood of keys
            self._levels.clear()
        self._levels[key] = (available - 1 if available >= 1 else available, now)
        return 0.0 if available >= 1 else (1 - available) / per_second

    def forget(self, key: Hashable) -> None:
        self._levels.pop(key, None)

    def forget_all(self) -> None:
        self._levels.clear()
