"""Hold a request open until a person has decided, without holding a worker thread.

The WSGI application answers at once. Where the caller is willing to wait for a pending approval, the view
asks for it in the header `X-ICP-Hold: <approval>;<seconds>`. This ASGI middleware then keeps the connection
on the event loop and calls the application again once the approval is decided.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from sessions.live.hub import hub

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_WAIT_SECONDS = 55  # below the minute after which proxies commonly give up
HOLD_HEADER = "X-ICP-Hold"
RESUMED_HEADER = b"x-icp-resumed"
RESUMED = "HTTP_X_ICP_RESUMED"  # the same header as WSGI names it
HOLD_NAME = HOLD_HEADER.lower().encode()
HOLDABLE = re.compile(r"/api/v1/(gate|approvals/[^/]+)/?\Z|/hooks/")
MAX_BODY = 2 * 1024 * 1024  # more than the gate takes, so that the gate itself refuses what is too long


@dataclass
class BufferedResponse:
    """A response of the application, buffered until it is known whether to send it or to wait."""

    start: Message = field(default_factory=dict)
    body: list[bytes] = field(default_factory=list)

    async def add(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.start = message
        else:
            self.body.append(message.get("body", b""))

    def requested_hold(self) -> tuple[str, float] | None:
        """Return the id of the approval to wait for and the seconds; None to send the response now."""
        for name, value in self.start.get("headers", ()):
            if name.lower() == HOLD_NAME:
                approval, _, seconds = value.decode("ascii").partition(";")
                return approval, float(seconds)
        return None

    async def send_to(self, send: Send) -> None:
        headers = [(name, value) for name, value in self.start["headers"] if name.lower() != HOLD_NAME]
        await send({**self.start, "headers": headers})
        await send({"type": "http.response.body", "body": b"".join(self.body)})


class HoldMiddleware:
    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not HOLDABLE.search(scope["path"]):
            await self.app(scope, receive, send)
            return
        body = await _read_body(receive)
        if body is None:
            return
        answer = await self._call_app(scope, body)
        hold = answer.requested_hold()
        if hold is not None:
            is_decided = await _wait_for_decision(receive, *hold)
            if is_decided is None:
                return  # the client went away: the approval stays, the same call may be sent again
            if is_decided:
                resumed = {**scope, "headers": [*scope["headers"], (RESUMED_HEADER, hold[0].encode())]}
                answer = await self._call_app(resumed, body)
        await answer.send_to(send)

    async def _call_app(self, scope: Scope, body: bytes) -> BufferedResponse:
        answer = BufferedResponse()
        messages = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Message:
            return messages.pop() if messages else {"type": "http.disconnect"}

        await self.app(scope, receive, answer.add)
        return answer


async def _read_body(receive: Receive) -> bytes | None:
    """Return the body, cut a little above the gate's limit; None when the client disconnects."""
    chunks, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        size += len(message.get("body", b""))
        if size <= MAX_BODY:
            chunks.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(chunks)


async def _wait_for_decision(receive: Receive, approval: str, seconds: float) -> bool | None:
    """Return True when decided, False when the time is over, None when the client disconnects."""
    gone = asyncio.ensure_future(_until_disconnect(receive))
    decision = asyncio.ensure_future(hub().wait_for_decision(approval, seconds))
    try:
        await asyncio.wait({gone, decision}, return_when=asyncio.FIRST_COMPLETED)
        return decision.result() if decision.done() else None
    except asyncio.CancelledError:
        return False  # the server is stopping: the caller gets the first answer
    finally:
        for task in (gone, decision):
            task.cancel()


async def _until_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
