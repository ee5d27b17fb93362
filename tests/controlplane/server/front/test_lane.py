"""A lane decides the calls that wait, records their decisions together, and answers each of them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import DataError, OperationalError

from controlplane.server.front import lane as lanes
from controlplane.server.front.fair_queue import Payer
from controlplane.server.front.lane import Job, Lane, Lanes
from controlplane.server.front.replies import RawReply

pytestmark = pytest.mark.django_db(transaction=True)
CALLER = Payer(1, 1)


def decision(name: str, *, is_plain: bool = True) -> Any:
    return SimpleNamespace(name=name, is_plain=is_plain)


def call(name: str, *, is_plain: bool = True, started: threading.Event | None = None):
    """Steps that decide once, and reply with what was recorded or with the error."""

    def steps():
        if started is not None:
            started.set()
        try:
            recorded = yield decision(name, is_plain=is_plain)
            while recorded is None:  # the snapshot was stale
                recorded = yield decision(f"{name} again", is_plain=is_plain)
            return RawReply(200, recorded.encode(), {})
        except Exception as error:  # noqa: BLE001  as the gate's own steps do
            return RawReply(503, type(error).__name__.encode(), {})

    return steps


class Recorder:
    """Stands for the ledger: what was recorded, in which transaction."""

    def __init__(self, monkeypatch) -> None:
        self.transactions: list[list[str]] = []
        self.failure: Exception | None = None
        self.failing: set[str] = set()
        self.stale: set[str] = set()
        monkeypatch.setattr(lanes, "record_together", self.together)
        monkeypatch.setattr(lanes, "record_alone", lambda decided: self.together([decided])[0])

    def together(self, decided: Sequence[Any]) -> list[str | None]:
        names = [item.name for item in decided]
        if self.failure is not None and (not self.failing or self.failing & set(names)):
            raise self.failure
        self.transactions.append(names)
        return [None if name in self.stale else f"recorded {name}" for name in names]


@pytest.fixture
def recorder(monkeypatch):
    return Recorder(monkeypatch)


def run(*calls: Any, lane: Any = None) -> list[tuple[int, bytes] | None]:
    """Send calls that all wait before the first of them is taken; return status and body of each."""

    async def send() -> list[RawReply | None]:
        loop = asyncio.get_running_loop()
        block = threading.Event()
        queue = lane or Lane("test", 1, max_group=8)
        futures = [loop.create_future() for _ in calls]

        def first():
            block.wait(10)
            return (yield from calls[0]())

        queue.submit(Job(CALLER, first, futures[0]))
        for steps, future in zip(calls[1:], futures[1:], strict=True):
            queue.submit(Job(CALLER, steps, future))
        block.set()
        replies = await asyncio.wait_for(asyncio.gather(*futures), 10)
        queue.close()
        return replies

    return [reply and (reply.status, reply.body) for reply in asyncio.run(send())]


def test_decisions_that_are_ready_share_a_transaction(recorder):
    assert run(call("a"), call("b"), call("c")) == [
        (200, b"recorded a"), (200, b"recorded b"), (200, b"recorded c"),
    ]  # fmt: skip
    assert recorder.transactions == [["a", "b", "c"]]


def test_a_group_is_bounded(recorder):
    run(*[call(str(number)) for number in range(20)])
    assert max(map(len, recorder.transactions)) <= 8


def test_a_stale_decision_is_judged_again_without_the_others(recorder):
    recorder.stale = {"b"}
    replies = run(call("a"), call("b"))
    assert replies == [(200, b"recorded a"), (200, b"recorded b again")]
    assert recorder.transactions == [["a", "b"], ["b again"]]


def test_a_database_that_is_away_fails_them_all_at_once(recorder):
    recorder.failure = OperationalError("connection refused")
    assert run(call("a"), call("b")) == [(503, b"OperationalError")] * 2
    assert recorder.transactions == []


def test_one_bad_decision_does_not_fail_its_neighbours(recorder):
    recorder.failure, recorder.failing = DataError("bad"), {"b"}
    assert run(call("a"), call("b"), call("c")) == [
        (200, b"recorded a"), (503, b"DataError"), (200, b"recorded c"),
    ]  # fmt: skip


def test_what_writes_more_than_its_decision_goes_to_the_other_lane(recorder):
    both = Lanes()

    class Fast:
        submit = staticmethod(both.fast.submit)
        close = staticmethod(both.close)

    replies = run(call("plain"), call("asks", is_plain=False), call("too"), lane=Fast)
    assert replies == [(200, b"recorded plain"), (200, b"recorded asks"), (200, b"recorded too")]
    assert sorted(recorder.transactions) == [["asks"], ["plain", "too"]]


def test_a_call_whose_time_is_over_is_neither_judged_nor_recorded(recorder):
    started = threading.Event()

    async def send() -> None:
        queue = Lane("test", 1, max_group=8)
        future = asyncio.get_running_loop().create_future()
        future.set_result(None)  # the front has denied meanwhile
        queue.submit(Job(CALLER, call("late", started=started), future))
        other = asyncio.get_running_loop().create_future()
        queue.submit(Job(CALLER, call("next"), other))
        await asyncio.wait_for(other, 10)
        queue.close()

    asyncio.run(send())
    assert not started.is_set()
    assert recorder.transactions == [["next"]]


def test_steps_that_break_are_a_reply_without_content_and_the_lane_goes_on(recorder):
    def broken():
        yield decision("never")
        raise AssertionError

    assert run(broken, call("a")) == [None, (200, b"recorded a")]


def test_a_lane_that_is_at_one_call_for_long_is_stuck(recorder):
    release, started = threading.Event(), threading.Event()

    def hangs():
        started.set()
        release.wait(10)
        return RawReply(200, b"", {})
        yield

    async def send() -> None:
        queue = Lane("test", 1, max_group=8)
        future = asyncio.get_running_loop().create_future()
        queue.submit(Job(CALLER, hangs, future))
        await asyncio.to_thread(started.wait, 10)
        assert queue.is_stuck(0.0)
        assert not queue.is_stuck(60)
        release.set()
        await asyncio.wait_for(future, 10)
        assert not queue.is_stuck(0.0)
        queue.close()

    asyncio.run(send())


def test_a_lane_that_rests_for_others_ends_when_it_is_closed(recorder, monkeypatch):
    monkeypatch.setattr(lanes, "YIELD_FACTOR", 1e9)
    monkeypatch.setattr(lanes, "MAX_YIELD_SECONDS", 3600)
    lane = Lane("resting", 1, max_group=1)
    lane.yields_to = SimpleNamespace(has_served_others=lambda _: True)
    assert run(call("a"), lane=lane) == [(200, b"recorded a")]
    (thread,) = lane._threads
    thread.join(30)
    assert not thread.is_alive()
