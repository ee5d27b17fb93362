"""The part of a process that watches the ledger for everybody who waits on its event loop.

Woken by `announce` at once, and by itself twice a second: a lost message costs half a second, never an event.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable
from functools import partial

from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from django.conf import settings

from controlplane.shared import notify
from sessions.live.events import Event, events_since, newest_seq
from sessions.models import Approval

log = logging.getLogger(__name__)

TICK_SECONDS = 0.5
MAX_SEEN = 2_000
Receiver = Callable[[list[Event]], None]


class Hub:
    """One per event loop. Does nothing at all while nobody is subscribed and no call is held."""

    def __init__(self) -> None:
        self._receivers: defaultdict[int, set[Receiver]] = defaultdict(set)
        self._cursors: dict[int, int] = {}
        self._seen: defaultdict[int, dict[int, None]] = defaultdict(dict)
        self._held: dict[str, set[asyncio.Future[None]]] = {}
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._loop = asyncio.get_running_loop()

    def _news(self, _: int) -> None:
        self._loop.call_soon_threadsafe(self._wake.set)

    def start(self) -> None:
        notify.add_listener(self._news)
        self._tasks.append(asyncio.create_task(self._watch()))
        if settings.REDIS_URL:
            self._tasks.append(asyncio.create_task(self._hear()))

    async def stop(self) -> None:
        notify.remove_listener(self._news)
        for task in self._tasks:
            task.cancel()
        self.release()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def release(self) -> None:
        """Let every held call go on with the answer that it has."""
        for futures in self._held.values():
            for future in futures:
                future.cancel()

    async def subscribe(self, workspace_id: int, receiver: Receiver) -> int:
        """Have events delivered from now on; returns the sequence number before the first of them."""
        if workspace_id not in self._cursors:
            newest, recent = await database_sync_to_async(_news_so_far)(workspace_id)
            self._cursors.setdefault(workspace_id, newest)
            self._seen[workspace_id].update(dict.fromkeys(recent))
        self._receivers[workspace_id].add(receiver)
        return self._cursors[workspace_id]

    def unsubscribe(self, workspace_id: int, receiver: Receiver) -> None:
        self._receivers[workspace_id].discard(receiver)
        if not self._receivers[workspace_id]:
            del self._receivers[workspace_id]
            self._cursors.pop(workspace_id, None)
            self._seen.pop(workspace_id, None)

    async def until_decided(self, approval_id: str, seconds: float) -> bool:
        """Wait until the approval is no longer pending; False when the time is over first."""
        future: asyncio.Future[None] = self._loop.create_future()
        self._held.setdefault(approval_id, set()).add(future)
        self._wake.set()
        try:
            await asyncio.wait_for(future, seconds)
        except TimeoutError:
            return False
        except asyncio.CancelledError:
            if future.cancelled() and not _being_cancelled():
                return False  # released: the server is stopping
            raise
        finally:
            self._held[approval_id].discard(future)
            if not self._held[approval_id]:
                del self._held[approval_id]
        return True

    async def _watch(self) -> None:
        while True:
            if self._receivers or self._held:
                try:
                    await self._look()
                except Exception:
                    log.warning("the ledger could not be read for open pages", exc_info=True)
                    await asyncio.sleep(TICK_SECONDS)
            try:
                await asyncio.wait_for(self._wake.wait(), TICK_SECONDS)
            except TimeoutError:
                continue
            self._wake.clear()

    async def _look(self) -> None:
        for workspace_id in list(self._receivers):
            await self._deliver(workspace_id)
        if self._held:
            over = await database_sync_to_async(_over)(list(self._held))
            for approval_id in over:
                for future in self._held.get(approval_id, ()):
                    if not future.done():
                        future.set_result(None)

    async def _deliver(self, workspace_id: int) -> None:
        read = partial(events_since, workspace_id, self._cursors.get(workspace_id, 0), with_late=True)
        seen = self._seen[workspace_id]
        events = [event for event in await database_sync_to_async(read)() if event.seq not in seen]
        if not events or workspace_id not in self._cursors:
            return
        self._cursors[workspace_id] = max(self._cursors[workspace_id], events[-1].seq)
        seen.update(dict.fromkeys(event.seq for event in events))
        for old in list(seen)[:-MAX_SEEN]:
            del seen[old]
        for receiver in list(self._receivers.get(workspace_id, ())):
            receiver(events)

    async def _hear(self) -> None:
        """News from other processes."""
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
                log.warning("no news from other processes; looking by itself", exc_info=True)
                await asyncio.sleep(2)


def _news_so_far(workspace_id: int) -> tuple[int, list[int]]:
    """The newest number, and those of the last seconds: nobody who comes now is told of them again."""
    newest = newest_seq(workspace_id)
    return newest, [event.seq for event in events_since(workspace_id, newest, with_late=True)]


def _over(approval_ids: list[str]) -> list[str]:
    ended = Approval.objects.ended().filter(public_id__in=approval_ids)
    return list(ended.values_list("public_id", flat=True))


_hubs: dict[asyncio.AbstractEventLoop, Hub] = {}


def hub() -> Hub:
    """The hub of the running loop, started on first use."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        for closed in [old for old in _hubs if old.is_closed()]:
            del _hubs[closed]
        _hubs[loop] = Hub()
        _hubs[loop].start()
    return _hubs[loop]


def _being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def release_held_calls() -> None:
    """Before the server closes connections: a held call is better answered than cut off."""
    found = _hubs.get(asyncio.get_running_loop())
    if found is not None:
        found.release()
        await asyncio.sleep(0)


async def stop_hub() -> None:
    found = _hubs.pop(asyncio.get_running_loop(), None)
    if found is not None:
        await found.stop()
