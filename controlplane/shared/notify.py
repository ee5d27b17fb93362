"""Notify every process that a workspace's ledger has new entries.

A message only says "read the ledger": listeners also poll every half second, so a lost one costs no more than
that. Calls are cheap and never fail, because the gate makes them.
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
_has_news = threading.Event()
_sender: threading.Thread | None = None


def add_listener(callback: Callable[[int], None]) -> None:
    """Call `callback(workspace_id)`, from any thread, for entries that this process writes."""
    _listeners.append(callback)


def remove_listener(callback: Callable[[int], None]) -> None:
    if callback in _listeners:
        _listeners.remove(callback)


def announce(workspace_id: int) -> None:
    for callback in _listeners:
        callback(workspace_id)
    if settings.REDIS_URL:
        _pending.add(workspace_id)
        _has_news.set()
        _start_sender()


def _start_sender() -> None:
    global _sender  # noqa: PLW0603  one courier thread a process
    if _sender is None or not _sender.is_alive():
        with _lock:
            if _sender is None or not _sender.is_alive():
                _sender = threading.Thread(target=_run_sender, name="news-sender", daemon=True)
                _sender.start()


def _run_sender() -> None:
    asyncio.run(_send_forever())


async def _send_forever() -> None:
    layer = get_channel_layer()
    assert layer is not None
    while True:
        await asyncio.to_thread(_has_news.wait)
        _has_news.clear()
        workspaces, count = list(_pending), len(_pending)
        _pending.difference_update(workspaces)
        try:
            if count:
                await layer.group_send(GROUP, {"type": "news", "workspaces": workspaces})
        except Exception:
            log.warning("could not notify other processes; they poll the ledger", exc_info=True)
        await asyncio.sleep(PAUSE_SECONDS)
