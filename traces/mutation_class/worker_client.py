"""The class of a change, computed in a process of its own.

The texts are an agent's. Some of them let the parser take gigabytes, or minutes in one step that nothing in
the process can stop. Apart from the server it costs no request its turn, and can be ended.
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

from traces.mutation_class.compare import MAX_BYTES
from traces.mutation_class.languages import grammar_for

SECONDS = 4.0  # from the question to its answer, waiting for one's turn included
MAX_ASKING = 4  # callers at once: whoever has others to answer, as the gate's threads, is not kept by more
ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "traces.mutation_class.worker")


def class_apart(path: str, before: str, after: str) -> str | None:
    """As `mutation_class`; None as well where the answer does not come in time, or too many ask at once.

    Never raises.
    """
    if grammar_for(path) is None or max(len(before), len(after)) > MAX_BYTES:
        return None
    question = json.dumps({"path": path, "before": before, "after": after})
    return _worker.ask(question.encode() + b"\n", time.monotonic() + SECONDS)


class _Worker:
    """One process for all threads, begun at the first question and again after it was ended."""

    def __init__(self, asking_most: int = MAX_ASKING) -> None:
        self._places = threading.BoundedSemaphore(asking_most)
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, question: bytes, deadline: float) -> str | None:
        if not self._places.acquire(blocking=False):
            return None
        try:
            return self._in_turn(question, deadline)
        finally:
            self._places.release()

    def _in_turn(self, question: bytes, deadline: float) -> str | None:
        if not self._turn.acquire(timeout=max(0.0, deadline - time.monotonic())):
            return None
        try:
            return self._answer(question, deadline)
        except (OSError, ValueError):
            self.end()
            return None
        finally:
            self._turn.release()

    def _answer(self, question: bytes, deadline: float) -> str | None:
        process = self._running()
        assert process.stdin is not None
        process.stdin.write(question)
        process.stdin.flush()
        answer: str | None = json.loads(_line(process, deadline))
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.end()
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                COMMAND,
                cwd=ROOT,
                env={"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._process

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(OSError):  # what was not sent any more
                    assert pipe is not None
                    pipe.close()
            self._process = None


def _line(process: subprocess.Popen[bytes], deadline: float) -> bytes:
    """Raises TimeoutError, and EOFError as an OSError where the process has ended."""
    assert process.stdout is not None
    waiting, found = select.poll(), b""
    waiting.register(process.stdout, select.POLLIN)
    while not found.endswith(b"\n"):
        if not waiting.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise TimeoutError
        piece = os.read(process.stdout.fileno(), 4096)
        if not piece:
            raise ConnectionError("the worker has ended")
        found += piece
    return found


def _begin_anew() -> None:
    """After a fork: the parent's process answers the parent alone."""
    global _worker  # noqa: PLW0603
    _worker = _Worker()


def _finish() -> None:
    _worker.end()  # looked up then: after a fork it is another one


_worker = _Worker()
atexit.register(_finish)
os.register_at_fork(after_in_child=_begin_anew)
