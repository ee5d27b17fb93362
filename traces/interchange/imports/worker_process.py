"""Preparing a large file in a process beside the one that writes to the database.

    this process:  read ──► pipe ──┐              ┌──► history, database
    the other:                     └─► parts_of ──┘ pipe

Pipes and a short queue are bounded: whoever is ahead waits, so memory does not grow with the file. The other
process knows no database. When it dies, the import ends with an error and keeps what was committed; when this
one dies, the other one finds its pipes closed and ends.
"""

from __future__ import annotations

import fcntl
import gc
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from itertools import chain
from queue import Queue
from typing import IO

from django.conf import settings

from traces.entries.record import Storing
from traces.interchange.formats.json_lines import CHUNK
from traces.interchange.imports.prepare import Part, Preparing, Read, entries_of, parts_of

LARGE = 8 * 1024 * 1024  # bytes from which on a second process is worth its start
PIPE_SIZE = 1024 * 1024  # what Linux allows everybody: about two batches
AHEAD = 24  # batches beyond the pipe, made while the other process commits and seals
LOOSE_OBJECTS = 100_000  # between searches for cycles, of which batches have none
BOOT = f"import django; django.setup(); from {__name__} import serve; serve()"


class PreparingStoppedError(Exception):
    """The process beside ended before the file did."""


@contextmanager
def prepared(read: Read, how: Preparing, *, beside: bool) -> Iterator[Iterator[Part]]:
    """The parts of a file. With `beside` they are made by a second process, where that is worth it."""
    if beside and processors() > 1:
        read, large = _looked_ahead(read)
        if large:
            with _process(read, how) as parts:
                yield parts
            return
    yield parts_of(lambda report: entries_of(read, how.lenient, report), how)


def processors() -> int:
    """How many this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def serve() -> None:
    """The other process: a file on standard input, its parts on standard output, settings as the argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # for the one that started this
    sender = Sender(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # whatever prints does not meet the parts
    told = json.loads(sys.argv[1])
    how = Preparing(**told | {"storing": Storing(**told["storing"])})
    gc.freeze()
    gc.set_threshold(LOOSE_OBJECTS)
    sender.start()
    for part in parts_of(lambda report: entries_of(sys.stdin.buffer.read, how.lenient, report), how):
        sender.waiting.put(pickle.dumps(part, pickle.HIGHEST_PROTOCOL))
    sender.waiting.put(b"")
    sender.join()


class Sender(threading.Thread):
    """Sends what waits, until it is empty. Where nobody takes it any more, the whole process ends."""

    def __init__(self, out: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._out = out
        self.waiting: Queue[bytes] = Queue(AHEAD)

    def run(self) -> None:
        try:
            while part := self.waiting.get():
                self._out.write(part)
                self._out.flush()
        except BrokenPipeError:
            os._exit(0)


def _looked_ahead(read: Read) -> tuple[Read, bool]:
    """(what reads the same from its beginning, whether it is large)."""
    seen, size = [], 0
    while size < LARGE and (chunk := read(CHUNK)):
        seen.append(chunk)
        size += len(chunk)
    again = chain(seen, iter(lambda: read(CHUNK), b""))
    return lambda _size: next(again, b""), size >= LARGE


@contextmanager
def _process(read: Read, how: Preparing) -> Iterator[Iterator[Part]]:
    process = _started(how)
    assert process.stdin
    assert process.stdout
    feeder = Feeder(read, process.stdin, process.kill)
    feeder.start()
    try:
        yield _parts(process, process.stdout, feeder)
    finally:
        process.kill()
        process.wait()
        feeder.join(timeout=1)  # it may wait for standard input, and then ends with this process
        process.stdout.close()


def _started(how: Preparing) -> subprocess.Popen[bytes]:
    """`-P`: the folder in which an import is started may hold anything, and nothing is imported from it."""
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": settings.SETTINGS_MODULE,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(settings.BASE_DIR), os.environ.get("PYTHONPATH")])),
    }
    process = subprocess.Popen(  # noqa: S603 - this interpreter, this program
        [sys.executable, "-P", "-c", BOOT, json.dumps(asdict(how))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    )
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):  # less than the usual limit is allowed here
            fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, PIPE_SIZE)  # type: ignore[arg-type]  # it is a pipe
    return process


class Feeder(threading.Thread):
    """Hands on what is read. When reading fails, the other process is stopped: closing its pipe would tell it
    that the file has ended."""

    def __init__(self, read: Read, out: IO[bytes], stop: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self._read, self._out, self._stop = read, out, stop
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            while chunk := self._read(CHUNK):
                self._out.write(chunk)
        except BrokenPipeError:
            pass  # the other process is gone, as whoever waits for its parts will see
        except BaseException as error:  # noqa: BLE001 - raised where the parts are awaited
            self.error = error
            self._stop()
        with suppress(BrokenPipeError):
            self._out.close()


def _parts(process: subprocess.Popen[bytes], parts: IO[bytes], feeder: Feeder) -> Iterator[Part]:
    while True:
        try:
            part: Part = pickle.load(parts)  # noqa: S301 - written by our own process
        except (EOFError, pickle.UnpicklingError) as error:
            if feeder.error:
                raise feeder.error from None
            text = f"The process that prepares the entries ended with status {process.wait()}."
            raise PreparingStoppedError(text) from error
        yield part
        if part.last:
            return
