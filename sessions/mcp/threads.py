"""Database work for the event loop, on its own pool of threads: one slow query holds up nobody else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from channels.db import database_sync_to_async

from controlplane.shared.database.limits import limit_waits

T = TypeVar("T")


async def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    result: T = await database_sync_to_async(_run, thread_sensitive=False)(function, *arguments)
    return result


def _run(function: Callable[..., T], *arguments: Any) -> T:
    limit_waits()
    return function(*arguments)
