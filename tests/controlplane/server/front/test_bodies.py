"""Bodies are read within limits of size and time, whoever sends them."""

from __future__ import annotations

import asyncio

import pytest

from controlplane.server.front import bodies
from controlplane.server.front.bodies import (
    BodyTimeoutError,
    BodyTooLongError,
    ClientGoneError,
    read_body,
)


def sender(*chunks: bytes, ends: bool = True):
    """A `receive` that gives these chunks, and then either ends the body or falls silent."""
    messages = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    if ends:
        messages[-1]["more_body"] = False

    async def receive():
        if messages:
            return messages.pop(0)
        return await asyncio.Future()

    return receive


async def read_again(body: bodies.Body) -> bytes:
    receive, whole = body.replay(sender(b"", ends=False)), b""
    while True:
        message = await receive()
        whole += message["body"]
        if not message["more_body"]:
            return whole


@pytest.mark.parametrize(
    "size", [0, 1, bodies.SPOOL_BYTES - 1, bodies.SPOOL_BYTES + 1, 3 * bodies.CHUNK_BYTES]
)
def test_a_body_comes_out_as_it_went_in(size):
    async def run() -> bytes:
        content = bytes(range(256)) * (size // 256 + 1)
        with await read_body(sender(content[: size // 2], content[size // 2 : size]), limit=10**7) as body:
            assert await read_again(body) == content[:size]

    asyncio.run(run())


def test_a_body_over_the_limit_is_refused_after_it_was_read():
    with pytest.raises(BodyTooLongError):
        asyncio.run(read_body(sender(b"x" * 60, b"x" * 60), limit=100))


def test_a_body_without_end_is_not_read_to_its_end(monkeypatch):
    monkeypatch.setattr(bodies, "MAX_DISCARDED", 1000)
    with pytest.raises(BodyTooLongError):
        asyncio.run(read_body(sender(*[b"x" * 100] * 50, ends=False), limit=100))


def test_a_client_that_falls_silent_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(bodies, "BODY_SECONDS", 0.05)
    with pytest.raises(BodyTimeoutError):
        asyncio.run(read_body(sender(b"{", ends=False), limit=100))


def test_a_client_that_leaves_is_noticed():
    async def receive():
        return {"type": "http.disconnect"}

    with pytest.raises(ClientGoneError):
        asyncio.run(read_body(receive, limit=100))
