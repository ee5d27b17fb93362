"""Classify changes, and find symbols, in a worker process.

The texts come from an agent. Some make the parser take gigabytes, or minutes in a single step that nothing
inside of the process can interrupt. In a process of its own it blocks no request of the server and can be
killed.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from traces.mutation_class.compare import MAX_BYTES
from traces.mutation_class.languages import find_grammar
from traces.mutation_class.symbols import Symbol

TIMEOUT = 4.0  # seconds from request to answer, waiting for the lock included
MAX_CALLERS = 4  # at once; more of the gate's threads must not block on this
PROJECT_ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "traces.mutation_class.worker")


def classify_in_worker(path: str, before: str, after: str) -> str | None:
    """Classify like `classify_change`; None as well on timeout or with too many callers. Never raises."""
    if find_grammar(path) is None or max(len(before), len(after)) > MAX_BYTES:
        return None
    request = json.dumps({"path": path, "before": before, "after": after})
    answer: str | None = _worker.ask(request.encode() + b"\n", time.monotonic() + TIMEOUT)
    return answer


def find_symbols_in_worker(path: str, text: str) -> list[Symbol] | None:
    """Find symbols like `find_symbols`; None as well on timeout or with too many callers. Never raises."""
    if find_grammar(path) is None or len(text) > MAX_BYTES:
        return None
    request = json.dumps({"path": path, "text": text})
    answer = _worker.ask(request.encode() + b"\n", time.monotonic() + TIMEOUT)
    return None if answer is None else [Symbol(*fields) for fields in answer]


class _Worker:
    """One process for all threads, started at the first request and again after it was stopped."""

    def __init__(self, max_callers: int = MAX_CALLERS) -> None:
        self._slots = threading.BoundedSemaphore(max_callers)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, request: bytes, deadline: float) -> Any:
        if not self._slots.acquire(blocking=False):
            return None
        try:
            return self._ask_locked(request, deadline)
        finally:
            self._slots.release()

    def _ask_locked(self, request: bytes, deadline: float) -> Any:
        if not self._lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
            return None
        try:
            return self._exchange(request, deadline)
        except (OSError, ValueError):
            self.stop()
            return None
        finally:
            self._lock.release()

    def _exchange(self, request: bytes, deadline: float) -> Any:
        process = self._get_process()
        assert process.stdin is not None
        process.stdin.write(request)
        process.stdin.flush()
        return json.loads(_read_line(process, deadline))

    def _get_process(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.stop()
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                COMMAND,
                cwd=PROJECT_ROOT,
                # No secrets: the environment of the server stays out of a process that parses hostile text.
                env={"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._process

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(OSError):  # data that was not sent any more
                    assert pipe is not None
                    pipe.close()
            self._process = None


def _read_line(process: subprocess.Popen[bytes], deadline: float) -> bytes:
    """Read one line. Raises TimeoutError, or ConnectionError if the process has ended."""
    assert process.stdout is not None
    poller, line = select.poll(), b""
    poller.register(process.stdout, select.POLLIN)
    while not line.endswith(b"\n"):
        if not poller.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise TimeoutError
        chunk = os.read(process.stdout.fileno(), 4096)
        if not chunk:
            raise ConnectionError("the worker has exited")
        line += chunk
    return line


def _replace_worker() -> None:
    """Start over after a fork: the parent's process answers the parent alone."""
    global _worker  # noqa: PLW0603
    _worker = _Worker()


def _stop_worker() -> None:
    _worker.stop()  # looked up at exit: after a fork it is another one


_worker = _Worker()
atexit.register(_stop_worker)
os.register_at_fork(after_in_child=_replace_worker)
