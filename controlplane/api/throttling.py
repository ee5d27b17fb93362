"""A limit on requests per token: a bucket that fills evenly and holds ten seconds' worth."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from controlplane.tokens import Bearer

if TYPE_CHECKING:
    from rest_framework.views import APIView

BURST_SECONDS = 10
_MOST_BUCKETS = 10_000
_buckets: dict[int, tuple[float, float]] = {}  # token id -> (left, at)


class TokenThrottle(BaseThrottle):
    """Counts in this process only: a guard against a runaway agent, not an accounting system."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        rate = settings.RATE_PER_MINUTE / 60
        if not rate or not isinstance(request.auth, Bearer):
            return True
        now = time.monotonic()
        most = rate * BURST_SECONDS
        left, at = _buckets.get(request.auth.token_id, (most, now))
        left = min(most, left + (now - at) * rate)
        self.missing = (1 - left) / rate
        if len(_buckets) >= _MOST_BUCKETS:
            _buckets.clear()
        _buckets[request.auth.token_id] = (left - 1 if left >= 1 else left, now)
        return left >= 1

    def wait(self) -> float | None:
        return self.missing
