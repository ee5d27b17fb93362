"""Threads that run the steps of gate calls, and record decisions that are ready together in one transaction.

A lane is one or more threads over one fair queue. A thread takes the calls that wait, decides each of them,
records their decisions together, and answers each after the commit. The fast lane is one thread: threads that
hand Python's lock to each other around every statement cost more than they gain. What is dear, or writes more
than its decision, goes to the slow lane, so that a cheap call waits for cheap ones only.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from django.db import DatabaseError, InterfaceError, connection

from controlplane.server.front.fair_queue import FairQueue, Payer
from controlplane.server.front.replies import RawReply
from controlplane.server.request_id import current_request_id
from controlplane.shared.database.errors import is_unavailable
from controlplane.shared.database.limits import limit_waits
from sessions.gate.check import Steps
from sessions.gate.outcome import GateOutcome
from sessions.gate.record import Decided, record_alone, record_together

log = logging.getLogger(__name__)

MAX_GROUP = 32  # decisions of one transaction
SLOW_THREADS = 1
YIELD_FACTOR = 3.0  # for each second of a dear call three are left to cheap calls of others, if there are any
MAX_YIELD_SECONDS = 0.5
RECENT_SECONDS = 0.25
MAX_SERVED = 1_000
GROUP_SECONDS = 0.004  # after deciding for so long, those that are ready are recorded
DATABASE_ERRORS = (DatabaseError, InterfaceError)


@dataclass(eq=False, slots=True)
class Job:
    """One call on its way through a lane."""

    caller: Payer
    start: Callable[[], Steps[RawReply]]
    future: asyncio.Future[RawReply | None]
    steps: Steps[RawReply] | None = None
    decided: Decided | None = None  # the decision that is to be recorded next
    reply: RawReply | None = None
    seconds: float = 0.0  # of processor time
    is_small: bool = True  # so that its price says what a small call of this token costs
    request_id: str = field(default_factory=current_request_id.get)

    def advance(self, recorded: GateOutcome | None = None, error: Exception | None = None) -> None:
        """Go on to the next decision, or to the reply. Steps turn every error into a reply of their own."""
        started = time.thread_time()
        current_request_id.set(self.request_id)
        try:
            if self.steps is None:
                self.steps = self.start()
                self.decided = next(self.steps)
            elif error is not None:
                self.decided = self.steps.throw(error)
            else:
                self.decided = self.steps.send(recorded)
        except StopIteration as stop:
            self.decided, self.reply = None, stop.value
        except Exception:  # a fault of the steps themselves: the others of the group go on
            log.exception("the gate failed on a call")
            self.decided = None
        self.seconds += time.thread_time() - started


class Lane:
    """A queue and the threads that work it off."""

    # Takes a job whose decision needs more than its own row; without it the lane records all.
    hand_over: Callable[[Job], None] | None = None
    # Is told what small calls cost, for whoever chooses their lane.
    learn: Callable[[Payer, float], None] | None = None
    # Another lane: while that one serves other workspaces, this one rests after each call. On SQLite a call
    # holds the one lock of writers, and everywhere Python's.
    yields_to: Lane | None = None

    def __init__(self, name: str, threads: int, *, max_group: int) -> None:
        self.queue: FairQueue[Job] = FairQueue()
        self.busy_since: list[float | None] = [None] * threads
        self._max_group = max_group
        self._closing = threading.Event()
        self._served: dict[Hashable, float] = {}  # workspace -> when a call of it was last taken
        self._threads = [
            threading.Thread(target=self._run, args=(number,), name=f"{name} {number}", daemon=True)
            for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, job: Job) -> None:
        self.queue.put(job.caller, job)

    def close(self) -> None:
        self._closing.set()
        self.queue.close()

    def is_stuck(self, seconds: float) -> bool:
        """Whether every thread has been at one group of calls for so long, as when the database hangs."""
        now = time.monotonic()
        return all(since is not None and now - since > seconds for since in self.busy_since)

    def has_served_others(self, workspace: Hashable) -> bool:
        """Whether calls of another workspace came here in the last moments."""
        oldest = time.monotonic() - RECENT_SECONDS
        return any(at > oldest for other, at in tuple(self._served.items()) if other != workspace)

    def _run(self, number: int) -> None:
        limit_waits()
        while (taken := self.queue.take()) is not None:
            started = self.busy_since[number] = time.monotonic()
            jobs = [taken[1]]
            try:
                self._work(jobs)
            except Exception:  # a fault of the lane itself must not end its thread
                log.exception("the gate's lane failed")
            self.busy_since[number] = None
            self._settle(jobs)
            if self.yields_to is not None and self.yields_to.has_served_others(taken[0].workspace):
                self._closing.wait(min(YIELD_FACTOR * (time.monotonic() - started), MAX_YIELD_SECONDS))
        connection.close()

    def _work(self, jobs: list[Job]) -> None:
        connection.close_if_unusable_or_obsolete()  # the database may have restarted since the last group
        ready = self._decide(jobs)
        while ready:
            if self.hand_over is not None:
                moved = [job for job in ready if job.decided is not None and not job.decided.is_plain]
                for job in moved:
                    jobs.remove(job)
                    self.queue.give_back(job.caller, job.seconds)
                    self.hand_over(job)
                ready = [job for job in ready if job not in moved]
            _record(ready)
            ready = [job for job in ready if job.decided is not None]

    def _decide(self, jobs: list[Job]) -> list[Job]:
        """Decide the first job and those that wait, until they are enough or took long enough.

        `jobs` grows by them. Return those whose decision is to be recorded.
        """
        ends = time.monotonic() + GROUP_SECONDS
        job: Job | None = jobs[0]
        while job is not None:
            if job.future.done():  # its time was over, or its client left: it is neither judged nor recorded
                job.decided = None
            elif job.decided is None:
                job.advance()
            if len(jobs) >= self._max_group or time.monotonic() > ends:
                break
            taken = self.queue.take(timeout=0)
            job = taken[1] if taken is not None else None
            if job is not None:
                jobs.append(job)
        if len(self._served) > MAX_SERVED:
            self._served.clear()
        self._served |= {job.caller.workspace: time.monotonic() for job in jobs}
        return [job for job in jobs if job.decided is not None]

    def _settle(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            self.queue.give_back(job.caller, job.seconds)
            if self.learn is not None and job.is_small:
                self.learn(job.caller, job.seconds)
        if jobs:
            loop = jobs[0].future.get_loop()
            if not loop.is_closed():
                loop.call_soon_threadsafe(_answer, jobs)


def _record(jobs: Sequence[Job]) -> None:
    """Record the decisions of `jobs` and let them go on: plain ones together, the others one by one."""
    decided = [(job, job.decided) for job in jobs if job.decided is not None]
    plain = [(job, item) for job, item in decided if item.is_plain]
    alone = [(job, item) for job, item in decided if not item.is_plain]
    if len(plain) > 1:
        started = time.thread_time()
        try:
            results: list[GateOutcome | None] = record_together([item for _, item in plain])
        except DATABASE_ERRORS as error:
            if is_unavailable(error):
                for job, _ in plain:
                    job.advance(error=error)
            else:  # nothing was recorded, and one of them is at fault: each is tried alone
                alone += plain
        else:
            share = (time.thread_time() - started) / len(plain)
            for (job, _), result in zip(plain, results, strict=True):
                job.seconds += share
                job.advance(result)
    else:
        alone += plain
    for job, item in alone:
        _record_one(job, item)


def _record_one(job: Job, decided: Decided) -> None:
    started = time.thread_time()
    current_request_id.set(job.request_id)
    try:
        recorded = record_alone(decided)
    except Exception as error:  # noqa: BLE001  the steps answer it
        job.seconds += time.thread_time() - started
        job.advance(error=error)
    else:
        job.seconds += time.thread_time() - started
        job.advance(recorded)


def _answer(jobs: Sequence[Job]) -> None:
    """Hand the replies to the event loop's side; a job without one failed with its lane."""
    for job in jobs:
        if not job.future.done():
            job.future.set_result(job.reply)


class Lanes:
    """The two lanes of one process."""

    def __init__(self) -> None:
        self.fast = Lane("gate", 1, max_group=MAX_GROUP)
        self.slow = Lane("gate, slow", SLOW_THREADS, max_group=1)
        self.fast.hand_over = self.slow.submit
        self.slow.learn = self.fast.queue.learn
        self.slow.yields_to = self.fast

    def close(self) -> None:
        self.slow.close()
        self.fast.close()
