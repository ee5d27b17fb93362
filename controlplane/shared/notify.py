"""Notify every process that a workspace's ledger has new entries.

A message only says "read the ledger": listeners also poll every half second, so a lost one costs no more than
that. Calls are cheap and never fail, because the gate makes them.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
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
    global _sender  # noqa: PLW0603  one sender thread a process
    if _sender is None or not _sender.is_alive():
        with _lock:
            if _sender is None or not _sender.is_alive():
                _sender = threading.Thread(target=_run_sender, name="news-sender", daemon=True)
                _sender.start()


def _run_sender() -> None:
    """Send what is pending, for as long as the process lives.

    The thread waits by itself, not in an executor of the loop. Python joins those threads at exit, and
    this wait never ends.
    """
    loop = asyncio.new_event_loop()
    while True:
        _has_news.wait()
        _has_news.clear()
        loop.run_until_complete(_send_pending())
        time.sleep(PAUSE_SECONDS)


async def _send_pending() -> None:
    workspaces = list(_pending)
    _pending.difference_update(workspaces)
    layer = get_channel_layer()
    assert layer is not None
    try:
        if workspaces:
            await layer.group_send(GROUP, {"type": "news", "workspaces": workspaces})
    except Exception:
        log.warning("could not notify other processes; they poll the ledger", exc_info=True)
