"""A limit on requests per token."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from controlplane.shared.rate_limit import Buckets
from controlplane.shared.tokens import Bearer

if TYPE_CHECKING:
    from rest_framework.views import APIView

BURST_SECONDS = 10
requests = Buckets()


class TokenThrottle(BaseThrottle):
    """ICP_RATE_PER_MINUTE requests a minute, ten seconds' worth at once."""

    missing = 0.0

    def allow_request(self, request: Request, view: APIView) -> bool:
        rate = settings.RATE_PER_MINUTE / 60
        if not rate or not isinstance(request.auth, Bearer):
            return True
        self.missing = requests.take(request.auth.token_id, per_second=rate, burst=rate * BURST_SECONDS)
        return not self.missing

    def wait(self) -> float | None:
        return self.missing
