"""Bound work by a yardstick of the same process.

Seconds mean nothing on a slow or busy machine, or while coverage traces each line. A fixed loop slows down with the
machine, so a bound in multiples of it holds everywhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def bounded(yardsticks: float) -> Iterator[None]:
    """Fail when the block takes more processor time than so many yardsticks; 100 are a second on a quiet machine."""
    began = time.thread_time()
    yield
    took = (time.thread_time() - began) / yardstick()
    assert took < yardsticks, f"it took {took:.0f} yardsticks of processor time, allowed are {yardsticks}"


def measure(work: Callable[[], T]) -> tuple[T, float]:
    """Return what the work returns, and its processor time in yardsticks."""
    began = time.thread_time()
    result = work()
    return result, (time.thread_time() - began) / yardstick()


@cache
def yardstick() -> float:
    """Measure the processor time of a fixed loop in seconds: the least of three, so that a stutter counts little."""
    return min(_loop() for _ in range(3))


def _loop() -> float:
    began = time.thread_time()
    sum(number * number % 7 for number in range(220_000))
    return time.thread_time() - began
