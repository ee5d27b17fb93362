"""A limit on how often somebody may do a thing: a bucket that fills evenly and holds a burst."""

from __future__ import annotations

import time
from collections.abc import Hashable

_MAX_KEYS = 10_000


class Buckets:
    """One bucket a key. Counts in this process only: a guard against runaways and guessers, no accounting."""

    def __init__(self) -> None:
        self._left: dict[Hashable, tuple[float, float]] = {}  # key -> (left, at)

    def take(self, key: Hashable, *, per_second: float, burst: float) -> float:
        """Seconds until the next one is free; 0 when this one was, and is taken now."""
        now = time.monotonic()
        left, at = self._left.get(key, (burst, now))
        left = min(burst, left + (now - at) * per_second)
        if len(self._left) >= _MAX_KEYS:
            self._left.clear()
        self._left[key] = (left - 1 if left >= 1 else left, now)
        return 0.0 if left >= 1 else (1 - left) / per_second

    def forget(self, key: Hashable) -> None:
        self._left.pop(key, None)

    def forget_all(self) -> None:
        self._left.clear()
