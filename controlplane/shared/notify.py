"""Telling every process that a workspace's ledger has news.

The news itself is in the ledger; what travels is only "look again". Losing it costs nothing but the
half second until listeners look by themselves. Calls are cheap and never fail: the gate makes them.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable

from channels.layers import get_channel_layer
from django.conf import settings

log = logging.getLogger(__name__)

GROUP = "news"
PAUSE_SECONDS = 0.02  # a burst of decisions becomes one message

_listeners: list[Callable[[int], None]] = []
_pending: set[int] = set()
_lock = threading.Lock()
_wanted = threading.Event()
_courier: threading.Thread | None = None


def listen(wake: Callable[[int], None]) -> None:
    """Have `wake(workspace_id)` called, from any thread, for news made in this process."""
    _listeners.append(wake)


def stop_listening(wake: Callable[[int], None]) -> None:
    if wake in _listeners:
        _listeners.remove(wake)


def announce(workspace_id: int) -> None:
    for wake in _listeners:
        wake(workspace_id)
    if settings.REDIS_URL:
        _pending.add(workspace_id)
        _wanted.set()
        _start_courier()


def _start_courier() -> None:
    global _courier  # noqa: PLW0603  one courier thread a process
    if _courier is None or not _courier.is_alive():
        with _lock:
            if _courier is None or not _courier.is_alive():
                _courier = threading.Thread(target=_carry, name="news-courier", daemon=True)
                _courier.start()


def _carry() -> None:
    asyncio.run(_carry_forever())


async def _carry_forever() -> None:
    layer = get_channel_layer()
    assert layer is not None
    while True:
        await asyncio.to_thread(_wanted.wait)
        _wanted.clear()
        workspaces, count = list(_pending), len(_pending)
        _pending.difference_update(workspaces)
        try:
            if count:
                await layer.group_send(GROUP, {"type": "news", "workspaces": workspaces})
        except Exception:
            log.warning("news for other processes were not sent; they will look by themselves", exc_info=True)
        await asyncio.sleep(PAUSE_SECONDS)
