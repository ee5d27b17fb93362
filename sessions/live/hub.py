"""Watch the ledger for all pages and held calls of one event loop.

`notify` wakes the hub at once. It also polls twice a second, so a lost message costs half a second, no event.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import connections

from controlplane.shared import notify
from sessions.live.changes import ALWAYS_DRAWN, attach_changes, attach_queue
from sessions.live.events import QUEUE, LiveEvent, find_newest_seq, list_events_since
from sessions.models import Approval

log = logging.getLogger(__name__)

TICK_SECONDS = 0.5
GATHER_SECONDS = 0.02  # a call that asks commits twice, and a burst is drawn together
STOP_SECONDS = 2
MAX_SEEN = 2_000
Receiver = Callable[[list[LiveEvent]], None]
Result = TypeVar("Result")


class Hub:
    """One hub an event loop. It reads nothing while nobody is subscribed and no call is held."""

    def __init__(self) -> None:
        self._receivers: defaultdict[int, dict[Receiver, frozenset[str]]] = defaultdict(dict)
        self._cursors: dict[int, int] = {}
        self._seen: defaultdict[int, dict[int, None]] = defaultdict(dict)
        self._waiting: dict[str, set[asyncio.Future[None]]] = {}
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._loop = asyncio.get_running_loop()
        self._reading, self._drawing = ThreadPoolExecutor(1, "hub"), ThreadPoolExecutor(1, "hub-drawing")
        self._undrawn: defaultdict[tuple[int, frozenset[str]], list[LiveEvent]] = defaultdict(list)
        self._has_undrawn = asyncio.Event()

    def _on_notify(self, _: int) -> None:
        self._loop.call_soon_threadsafe(self._wake.set)

    def start(self) -> None:
        notify.add_listener(self._on_notify)
        self._tasks += map(asyncio.create_task, (self._watch(), self._draw()))
        if settings.REDIS_URL:
            self._tasks.append(asyncio.create_task(self._listen_to_other_processes()))

    async def stop(self) -> None:
        notify.remove_listener(self._on_notify)
        for task in self._tasks:
            task.cancel()
        self.release_waiting()
        # A channel layer that hangs, while it connects for example, must not keep the server from stopping.
        await asyncio.wait(self._tasks, timeout=STOP_SECONDS)
        threads = (self._reading, self._drawing)
        closing = [self._loop.run_in_executor(thread, connections.close_all) for thread in threads]
        await asyncio.wait(closing, timeout=STOP_SECONDS)
        for thread in threads:
            thread.shutdown(wait=False)

    def release_waiting(self) -> None:
        """Answer every held call with the answer that it already has."""
        for futures in self._waiting.values():
            for future in futures:
                future.cancel()

    async def subscribe(
        self, workspace_id: int, receiver: Receiver, views: frozenset[str] = frozenset()
    ) -> int:
        """Deliver events from now on, with what they change in the receiver's views.

        Return the sequence number before the first of them.
        """
        if workspace_id not in self._cursors:
            newest, recent = await self._in_thread(partial(_read_recent_seqs, workspace_id))
            self._cursors.setdefault(workspace_id, newest)
            self._seen[workspace_id].update(dict.fromkeys(recent))
        self._receivers[workspace_id][receiver] = views
        return self._cursors[workspace_id]

    def unsubscribe(self, workspace_id: int, receiver: Receiver) -> None:
        self._receivers[workspace_id].pop(receiver, None)
        if not self._receivers[workspace_id]:
            del self._receivers[workspace_id]
            self._cursors.pop(workspace_id, None)
            self._seen.pop(workspace_id, None)

    async def wait_for_decision(self, approval_id: str, seconds: float) -> bool:
        """Wait until the approval is no longer pending; return False when the time is over first."""
        future: asyncio.Future[None] = self._loop.create_future()
        self._waiting.setdefault(approval_id, set()).add(future)
        self._wake.set()
        try:
            await asyncio.wait_for(future, seconds)
        except TimeoutError:
            return False
        except asyncio.CancelledError:
            if future.cancelled() and not _is_cancelling():
                return False  # released: the server is stopping
            raise
        finally:
            self._waiting[approval_id].discard(future)
            if not self._waiting[approval_id]:
                del self._waiting[approval_id]
        return True

    async def _watch(self) -> None:
        while True:
            if self._receivers or self._waiting:
                try:
                    await self._poll()
                except Exception:
                    log.warning("the ledger could not be read for open pages", exc_info=True)
                    await asyncio.sleep(TICK_SECONDS)
            try:
                await asyncio.wait_for(self._wake.wait(), TICK_SECONDS)
            except TimeoutError:
                continue
            self._wake.clear()

    async def _poll(self) -> None:
        for workspace_id in list(self._receivers):
            await self._deliver(workspace_id)
        if self._waiting:
            approval_ids = await self._in_thread(partial(_find_decided, list(self._waiting)))
            for approval_id in approval_ids:
                for future in self._waiting.get(approval_id, ()):
                    if not future.done():
                        future.set_result(None)

    async def _deliver(self, workspace_id: int) -> None:
        seen = self._seen[workspace_id]
        with_rows = any(QUEUE in views for views in self._receivers[workspace_id].values())
        cursor = self._cursors.get(workspace_id, 0)
        read = partial(_read_new_events, workspace_id, cursor, frozenset(seen), with_rows=with_rows)
        events = await self._in_thread(read)
        if not events or workspace_id not in self._cursors:
            return
        self._cursors[workspace_id] = max(self._cursors[workspace_id], events[-1].seq)
        seen.update(dict.fromkeys(event.seq for event in events))
        for old in list(seen)[:-MAX_SEEN]:
            del seen[old]
        for views in set(self._receivers[workspace_id].values()):
            if views <= ALWAYS_DRAWN:
                self._send(workspace_id, views, events)
            else:
                self._undrawn[workspace_id, views].extend(events)
                self._has_undrawn.set()

    async def _draw(self) -> None:
        """Draw for pages that show more than the queue, which waits for none of them."""
        while True:
            await self._has_undrawn.wait()
            await asyncio.sleep(GATHER_SECONDS)
            self._has_undrawn.clear()
            undrawn, self._undrawn = self._undrawn, defaultdict(list)
            try:
                await self._in_thread(partial(self._draw_and_send, undrawn), self._drawing)
            except Exception:
                log.exception("pages could not be drawn")

    def _draw_and_send(self, undrawn: Mapping[tuple[int, frozenset[str]], Sequence[LiveEvent]]) -> None:
        for (workspace_id, views), events in undrawn.items():
            drawn = attach_changes(workspace_id, events, views)
            self._loop.call_soon_threadsafe(self._send, workspace_id, views, drawn)

    def _send(self, workspace_id: int, views: frozenset[str], events: list[LiveEvent]) -> None:
        for receiver, shown in list(self._receivers.get(workspace_id, {}).items()):
            if shown == views:
                receiver(events)

    async def _in_thread(
        self, function: Callable[[], Result], thread: ThreadPoolExecutor | None = None
    ) -> Result:
        """Run what reads the database in a thread of the hub: all sockets share another one."""
        run = database_sync_to_async(function, thread_sensitive=False, executor=thread or self._reading)
        result: Result = await run()
        return result

    async def _listen_to_other_processes(self) -> None:
        """Wake up on messages of other processes, which come by the channel layer."""
        layer = get_channel_layer()
        assert layer is not None
        while True:
            try:
                channel = await layer.new_channel()
                await layer.group_add(notify.GROUP, channel)
                while True:
                    await layer.receive(channel)
                    self._wake.set()
            except Exception:
                log.warning("no messages from other processes; polling only", exc_info=True)
                await asyncio.sleep(2)


def _read_recent_seqs(workspace_id: int) -> tuple[int, list[int]]:
    """Return the newest sequence number and those of the last seconds, which a new subscriber skips."""
    newest = find_newest_seq(workspace_id)
    return newest, [event.seq for event in list_events_since(workspace_id, newest, include_recent=True)]


def _read_new_events(
    workspace_id: int, cursor: int, seen: frozenset[int], *, with_rows: bool
) -> list[LiveEvent]:
    """Return the events that no page has got yet, with the queue drawn for all of them at once."""
    events = list_events_since(workspace_id, cursor, include_recent=True)
    new = [event for event in events if event.seq not in seen]
    return attach_queue(workspace_id, new, with_rows=with_rows) if new else []


def _find_decided(approval_ids: list[str]) -> list[str]:
    ended = Approval.objects.ended().filter(public_id__in=approval_ids)
    return list(ended.values_list("public_id", flat=True))


_hubs: dict[asyncio.AbstractEventLoop, Hub] = {}


def hub() -> Hub:
    """Return the hub of the running loop, started on first use."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        for closed in [old for old in _hubs if old.is_closed()]:
            del _hubs[closed]
        _hubs[loop] = Hub()
        _hubs[loop].start()
    return _hubs[loop]


def _is_cancelling() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def release_waiting_calls() -> None:
    """Answer held calls before the server closes connections, which would cut them off."""
    running_hub = _hubs.get(asyncio.get_running_loop())
    if running_hub is not None:
        running_hub.release_waiting()
        await asyncio.sleep(0)


async def stop_hub() -> None:
    running_hub = _hubs.pop(asyncio.get_running_loop(), None)
    if running_hub is not None:
        await running_hub.stop()
