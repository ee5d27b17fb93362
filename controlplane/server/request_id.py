"""An id for each request: a header of its answer, and part of every log record that it causes."""

from __future__ import annotations

import re
import secrets
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # logging begins before there are models
    from sessions.live.hold_open import Message, Scope, Send

HEADER = b"x-request-id"
_WELL_FORMED = re.compile(rb"[A-Za-z0-9._-]{1,64}\Z")

current_request_id: ContextVar[str] = ContextVar("request_id", default="")


def begin_request(scope: Scope, send: Send) -> Send:
    """Give the request its id: that of the proxy where it is well-formed, else a new one.

    Return a `send` that adds it to the answer.
    """
    given = next((value for name, value in scope["headers"] if name == HEADER), b"")
    request_id = given if _WELL_FORMED.match(given) else secrets.token_hex(8).encode()
    current_request_id.set(request_id.decode())

    async def send_with_id(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), (HEADER, request_id)]}
        await send(message)

    return send_with_id
