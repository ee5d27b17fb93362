"""Answers that the front gives by itself, with the headers that Django's middleware would set."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.security import SecurityMiddleware
from rest_framework.utils.encoders import JSONEncoder

from controlplane.api.errors import ErrorReply
from controlplane.server.middleware import security_headers
from sessions.gate.answers import render_refusal
from sessions.live.hold_open import Send

JSON = "application/json"
CLOSE = {"Connection": "close"}
Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class RawReply:
    """A complete response: status, encoded body, and headers beside those that every answer has."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    async def send_to(self, send: Send) -> None:
        headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in self.headers.items()]
        length = (b"content-length", str(len(self.body)).encode())
        start = {"type": "http.response.start", "status": self.status}
        await send({**start, "headers": [*common_headers(), length, *headers]})
        await send({"type": "http.response.body", "body": self.body})


def to_json(status: int, value: Any, headers: Mapping[str, str] | None = None) -> RawReply:
    """Encode as DRF's renderer does, for the same bytes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), cls=JSONEncoder)
    if not text.isascii():  # valid JSON, but not valid JavaScript
        text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return RawReply(status, text.encode(), {"Content-Type": JSON, **(headers or {})})


def render_refused_call(reply: ErrorReply) -> RawReply:
    """Answer the gate's caller with a denial in the envelope of its API."""
    body = render_refusal(reply.error_type, reply.error, **reply.extra)
    return to_json(reply.status_code, body, reply.headers)


@cache
def common_headers() -> tuple[tuple[bytes, bytes], ...]:
    """Return what the middleware adds to an answer of the API, as the settings say it."""
    request = HttpRequest()
    request.path = "/api/"
    request.META = {"SERVER_NAME": "localhost", "SERVER_PORT": "80"}
    if settings.SECURE_PROXY_SSL_HEADER:
        name, value = settings.SECURE_PROXY_SSL_HEADER
        request.META[name] = value

    def answer(_: HttpRequest) -> HttpResponse:
        response = HttpResponse()
        del response.headers["Content-Type"]
        return response

    chain = SecurityMiddleware(security_headers(XFrameOptionsMiddleware(answer)))  # type: ignore[arg-type]  # awaitables
    response = chain(request)
    return tuple((name.lower().encode(), value.encode()) for name, value in response.items())  # type: ignore[union-attr]
