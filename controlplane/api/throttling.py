"""Rate limit per token."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from controlplane.shared.rate_limit import TokenBuckets
from controlplane.shared.tokens import Bearer

if TYPE_CHECKING:
    from rest_framework.views import APIView

BURST_SECONDS = 10
request_buckets = TokenBuckets()


class TokenThrottle(BaseThrottle):
    """Allow ICP_RATE_PER_MINUTE requests per minute, in bursts of ten seconds' worth."""

    wait_seconds = 0.0

    def allow_request(self, request: Request, view: APIView) -> bool:
        rate = settings.RATE_PER_MINUTE / 60
        if not rate or not isinstance(request.auth, Bearer):
            return True
        self.wait_seconds = request_buckets.take(
            request.auth.token_id, per_second=rate, burst=rate * BURST_SECONDS
        )
        return not self.wait_seconds

    def wait(self) -> float | None:
        return self.wait_seconds
