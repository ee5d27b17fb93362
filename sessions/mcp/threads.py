"""Database work for the event loop, on its own pool of threads: one slow query holds up nobody else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from channels.db import database_sync_to_async

T = TypeVar("T")


async def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    result: T = await database_sync_to_async(function, thread_sensitive=False)(*arguments)
    return result
