"""Background loops: seal, verify, count, index, deliver to outlets, anchor, expire approvals, watch."""

from __future__ import annotations

import gc
import logging
import sys
import threading
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from django.db import close_old_connections

from controlplane.server.gauges import measure
from controlplane.server.health import readiness
from controlplane.server.leader import Leadership
from controlplane.shared.metrics import BACKGROUND_FAILURES
from sessions.approvals.lifecycle import expire_overdue
from sessions.gate.monitoring.health import alert_on_partial_hooks
from sessions.gate.monitoring.missing_effects import alert_on_missing_effects
from sessions.live.hub import stop_hub
from traces.anchors.schedule import check_anchored_heads, send_due_heads
from traces.counts.counters import count_sealed
from traces.ledger.new_leaves import LeafFollower
from traces.ledger.sealing import seal_all
from traces.outlets.delivery import deliver_all
from traces.search_index.indexer import index_sealed
from traces.verification.slices import check_due_ledgers

# A thread that computes keeps Python's lock for so long while others wait for it. At the usual 5 ms a cheap
# call, which takes the lock some ten times, would take 50 ms beside a dear one.
SWITCH_SECONDS = 0.0005

log = logging.getLogger(__name__)

Loop = tuple[str, float, Callable[[], Any]]  # name, seconds between runs, task
LEADER_LOOPS: tuple[Loop, ...] = (  # of several processes one runs these
    ("seal ledgers", 1.0, seal_all),
    ("count entries", 1.0, LeafFollower(count_sealed).run_once),
    ("index entries", 1.0, LeafFollower(index_sealed).run_once),
    ("expire approvals", 1.0, expire_overdue),
    ("tell outlets", 1.0, deliver_all),
    ("anchor ledgers", 1.0, send_due_heads),
    ("check anchored heads", 15.0, check_anchored_heads),
    ("verify ledgers", 1.0, check_due_ledgers),
    ("watch sessions", 60.0, alert_on_partial_hooks),
    ("watch contained runs", 15.0, alert_on_missing_effects),
)
OWN_LOOPS: tuple[Loop, ...] = (("measure", 15.0, measure),)


class BackgroundLoops:
    """One daemon thread per task; a failing task is logged and tried again at its next run."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._leadership = Leadership()
        self._threads = [
            threading.Thread(target=self._repeat, args=(loop,), name=loop[0], daemon=True)
            for loop in LEADER_LOOPS + OWN_LOOPS
        ]

    def start(self) -> None:
        self._leadership.start()
        for thread in self._threads:
            thread.start()

    def stop(self, timeout_seconds: float = 2.0) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(timeout_seconds)
        self._leadership.stop(timeout_seconds)

    def run_once(self, loop: Loop) -> None:
        """Run a task, unless it is the leader's and another process leads."""
        name, _, task = loop
        if loop in LEADER_LOOPS and not self._leadership.is_held:
            return
        try:
            close_old_connections()  # the database may have restarted since the last run
            task()
        except Exception:  # the loop must survive any fault of one run
            BACKGROUND_FAILURES.labels(name).inc()
            log.exception("could not %s; trying again", name)

    def _repeat(self, loop: Loop) -> None:
        _, seconds, _ = loop
        while not self._stopping.wait(seconds):
            self.run_once(loop)
        close_old_connections()


class Lifespan:
    """Runs the background loops for as long as the ASGI server lives."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            await self.app(scope, receive, send)
            return
        background = BackgroundLoops()
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                sys.setswitchinterval(SWITCH_SECONDS)
                gc.freeze()  # what the start created stays: no collection needs to look at it
                background.start()
                readiness.start()
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                readiness.stop()
                await stop_hub()
                background.stop()
                await send({"type": "lifespan.shutdown.complete"})
                return
