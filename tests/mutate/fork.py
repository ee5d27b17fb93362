"""Run a function in a forked child process."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any, NoReturn

EXIT_RAISED = 70


def run_in_fork(work: Callable[[], tuple[Any, int]]) -> tuple[Any, int]:
    """Return `(answer, status)` of `work`, run in a child process; the answer is None when the child died."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        _run_child(work, write_end)
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text or "null"), os.waitstatus_to_exitcode(status)


def _run_child(work: Callable[[], tuple[Any, int]], write_end: int) -> NoReturn:
    status = EXIT_RAISED
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        answer, status = work()
        with os.fdopen(write_end, "w") as pipe:
            json.dump(answer, pipe)
    finally:
        os._exit(status)
