"""The threads behind all routes but the gate: queued fairly by caller, and not waited for without end."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import Any

from controlplane.server.front.callers import identify, read_headers
from controlplane.server.front.fair_queue import FairQueue
from controlplane.shared.database.limits import LONG_SECONDS, limit_waits
from controlplane.shared.errors import UnavailableError
from controlplane.shared.metrics import VIEWS_RUNNING, VIEWS_WAITING

MAX_RUNNING = 6  # threads that one workspace, or one address without a token, may hold at a time
QUEUE_SECONDS = 10  # a request that found no thread by then is refused
MAX_WAITING = 1_000
NO_THREAD = "The server is busy with earlier requests. Send this one again shortly."


@dataclass(eq=False)
class Task:
    run: Callable[[], Any]
    future: Future[Any]
    claimed: threading.Lock = field(default_factory=threading.Lock)  # by a thread, or by the end of its time

    def claim(self) -> bool:
        return self.claimed.acquire(blocking=False)


class FairExecutor(Executor):
    """Runs `submit(function, environ, …)` for the caller of the request in `environ`."""

    def __init__(self, threads: int) -> None:
        self._queue: FairQueue[Task] = FairQueue(max_running=min(threads, MAX_RUNNING))
        VIEWS_WAITING.set_function(lambda: self._queue.size)
        for number in range(threads):
            threading.Thread(target=self._run, name=f"views {number}", daemon=True).start()

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        task = Task(lambda: function(*arguments), future)
        if self._queue.size >= MAX_WAITING:
            future.set_exception(UnavailableError(NO_THREAD))
            return future
        scope = arguments[0]["asgi.scope"]
        timer = asyncio.get_running_loop().call_later(QUEUE_SECONDS, _give_up, task)
        future.add_done_callback(lambda _: timer.cancel())
        self._queue.put(identify(scope, read_headers(scope)), task)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._queue.close()

    def _run(self) -> None:
        limit_waits(LONG_SECONDS)
        while (taken := self._queue.take()) is not None:
            caller, task = taken
            with VIEWS_RUNNING.track_inprogress():
                spent = _run_task(task)
            self._queue.give_back(caller, spent)


def _run_task(task: Task) -> float:
    """Return the processor time that it took."""
    if not task.claim():
        return 0.0
    started = time.thread_time()
    try:
        result = task.run()
    except BaseException as error:  # noqa: BLE001  whoever waits for the future gets it
        task.future.set_exception(error)
    else:
        task.future.set_result(result)
    return time.thread_time() - started


def _give_up(task: Task) -> None:
    if task.claim():
        task.future.set_exception(UnavailableError(NO_THREAD))
