"""Work that stops where it needs something done, so that many pieces of it can have it done together."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TypeVar

Request = TypeVar("Request")
Result = TypeVar("Result")
T = TypeVar("T")


def run_steps(steps: Generator[Request, Result, T], fulfil: Callable[[Request], Result]) -> T:
    """Run steps to their end, with `fulfil` for each request of theirs, and return what they return."""
    try:
        request = next(steps)
        while True:
            request = steps.send(fulfil(request))
    except StopIteration as stop:
        result: T = stop.value
        return result
