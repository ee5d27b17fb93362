"""Waiting for a human without holding a worker thread.

The WSGI application answers at once. Where the caller is willing to wait and the answer is a pending
approval, the view says so in the header `X-ICP-Hold: <approval>;<seconds>`; this ASGI middleware then keeps
the connection on the event loop, and asks the application again when the approval has been decided.
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
class Answer:
    """A whole answer of the application, kept until it is known whether it is the last word."""

    start: Message = field(default_factory=dict)
    body: list[bytes] = field(default_factory=list)

    async def take(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.start = message
        else:
            self.body.append(message.get("body", b""))

    def hold(self) -> tuple[str, float] | None:
        """The approval to wait for and for how long, in seconds."""
        for name, value in self.start.get("headers", ()):
            if name.lower() == HOLD_NAME:
                approval, _, seconds = value.decode("ascii").partition(";")
                return approval, float(seconds)
        return None

    async def give(self, send: Send) -> None:
        headers = [(name, value) for name, value in self.start["headers"] if name.lower() != HOLD_NAME]
        await send({**self.start, "headers": headers})
        await send({"type": "http.response.body", "body": b"".join(self.body)})


class HoldOpen:
    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not HOLDABLE.search(scope["path"]):
            await self.app(scope, receive, send)
            return
        body = await _read_body(receive)
        if body is None:
            return
        answer = await self._ask(scope, body)
        hold = answer.hold()
        if hold is not None:
            decided = await _wait(receive, *hold)
            if decided is None:
                return  # the client went away: the approval stays, the same call may be sent again
            if decided:
                resumed = {**scope, "headers": [*scope["headers"], (RESUMED_HEADER, hold[0].encode())]}
                answer = await self._ask(resumed, body)
        await answer.give(send)

    async def _ask(self, scope: Scope, body: bytes) -> Answer:
        answer = Answer()
        unread = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Message:
            return unread.pop() if unread else {"type": "http.disconnect"}

        await self.app(scope, receive, answer.take)
        return answer


async def _read_body(receive: Receive) -> bytes | None:
    """The whole body, at most a little over what the gate takes; None when the client went away."""
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


async def _wait(receive: Receive, approval: str, seconds: float) -> bool | None:
    """True when decided, False when the time is over, None when the client went away."""
    gone = asyncio.ensure_future(_until_disconnect(receive))
    decided = asyncio.ensure_future(hub().until_decided(approval, seconds))
    try:
        await asyncio.wait({gone, decided}, return_when=asyncio.FIRST_COMPLETED)
        return decided.result() if decided.done() else None
    except asyncio.CancelledError:
        return False  # the server is stopping: the caller gets the first answer
    finally:
        for task in (gone, decided):
            task.cancel()


async def _until_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
