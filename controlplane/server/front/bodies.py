"""Read request bodies on the event loop, within limits of size and time, before a thread is taken."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from typing import Self

from sessions.live.hold_open import Message, Receive

BODY_SECONDS = 15  # for the first bytes; each further `BYTES_PER_SECOND` give one more
BYTES_PER_SECOND = 32 * 1024
SPOOL_BYTES = 512 * 1024  # what is longer goes to a file without a name
CHUNK_BYTES = 256 * 1024
MAX_DISCARDED = 8 * 1024 * 1024  # of a body that is too long: read, so that its sender hears the answer


class ClientGoneError(Exception):
    """The client went away before its body was complete."""


class BodyTimeoutError(Exception):
    """The body did not arrive in time."""


class BodyTooLongError(Exception):
    """The body is longer than its sender may send."""


class Body:
    """A body that is kept in memory or, where it is long, in a temporary file."""

    def __init__(self) -> None:
        self.file = tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES)  # noqa: SIM115  closed by __exit__
        self.size = 0

    def add(self, message: Message, limit: int) -> bool:
        """Take a message; False when it was the last. Raise ClientGoneError or BodyTooLongError."""
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        chunk = message.get("body", b"")
        self.size += len(chunk)
        if self.size <= limit:
            self.file.write(chunk)
        has_more = bool(message.get("more_body"))
        if self.size > (limit + MAX_DISCARDED if has_more else limit):
            raise BodyTooLongError
        return has_more

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def replay(self, receive: Receive) -> Receive:
        """Return a `receive` that gives the body, then what the connection says."""
        self.file.seek(0)
        messages = self._messages()

        async def receive_again() -> Message:
            return next(messages, None) or await receive()

        return receive_again

    def _messages(self) -> Iterator[Message]:
        left = self.size
        while True:
            chunk = self.file.read(CHUNK_BYTES)
            left -= len(chunk)
            yield {"type": "http.request", "body": chunk, "more_body": left > 0}
            if left <= 0:
                return


async def read_body(receive: Receive, limit: int) -> Body:
    """Return the body. Raise ClientGoneError, BodyTimeoutError or BodyTooLongError."""
    body = Body()
    started = asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout(BODY_SECONDS) as timer:
            while body.add(await receive(), limit):
                timer.reschedule(started + BODY_SECONDS + body.size / BYTES_PER_SECOND)
    except BaseException as error:
        body.file.close()
        if isinstance(error, TimeoutError):
            raise BodyTimeoutError from None
        raise
    return body
