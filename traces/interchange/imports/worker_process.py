"""Prepare a large file in a second process while this one writes to the database.

    this process (consumer):    read ──► pipe ──┐                     ┌──► rewrite check, database
    worker process (producer):                  └─► prepare_batches ──┘ pipe

The pipes and the queue are bounded: whoever is ahead waits, so memory does not grow with the file. The worker
has no database connection. If it dies, the import ends with an error and keeps what was committed; if this
process dies, the worker finds its pipes closed and exits.
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

from traces.entries.record import StoreOptions
from traces.errors import WorkerStoppedError
from traces.interchange.formats.json_lines import CHUNK_SIZE
from traces.interchange.imports.prepare import (
    PreparedBatch,
    PrepareOptions,
    ReadFunction,
    prepare_batches,
    read_entries,
)

MIN_WORKER_FILE_SIZE = 8 * 1024 * 1024  # bytes from which a second process is worth its start
PIPE_SIZE = 1024 * 1024  # the limit for unprivileged users on Linux: about two batches
MAX_QUEUED_BATCHES = 24  # batches beyond the pipe, prepared while the other process commits and seals
GC_THRESHOLD = 100_000  # allocations between searches for cycles: batches have none
WORKER_CODE = f"import django; django.setup(); from {__name__} import run_worker; run_worker()"


@contextmanager
def open_batches(
    read: ReadFunction, options: PrepareOptions, *, use_worker: bool
) -> Iterator[Iterator[PreparedBatch]]:
    """Yield the batches of a file; with `use_worker`, a large one is prepared by a second process."""
    if use_worker and count_processors() > 1:
        read, is_large = _check_size(read)
        if is_large:
            with _run_producer(read, options) as batches:
                yield batches
            return
    yield prepare_batches(lambda report: read_entries(read, options.lenient, report), options)


def count_processors() -> int:
    """Return how many processors this process may use."""
    get_affinity = getattr(os, "sched_getaffinity", None)
    return len(get_affinity(0)) if get_affinity else os.cpu_count() or 1


def run_worker() -> None:
    """Run in the worker: the file on standard input, batches on standard output, options as the argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the importing process, which kills this one
    writer = QueueWriter(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # a stray print must not end up between the batches
    arguments = json.loads(sys.argv[1])
    options = PrepareOptions(**arguments | {"store_options": StoreOptions(**arguments["store_options"])})
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD)
    writer.start()
    for batch in prepare_batches(
        lambda report: read_entries(sys.stdin.buffer.read, options.lenient, report), options
    ):
        writer.queue.put(pickle.dumps(batch, pickle.HIGHEST_PROTOCOL))
    writer.queue.put(b"")
    writer.join()


class QueueWriter(threading.Thread):
    """Write queued batches to the pipe until an empty one. If nobody reads them any more, exit."""

    def __init__(self, out: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._out = out
        self.queue: Queue[bytes] = Queue(MAX_QUEUED_BATCHES)

    def run(self) -> None:
        try:
            while batch := self.queue.get():
                self._out.write(batch)
                self._out.flush()
        except BrokenPipeError:
            os._exit(0)  # the main thread may wait for queue space for ever


def _check_size(read: ReadFunction) -> tuple[ReadFunction, bool]:
    """Return (a function that reads the same from the start, whether the file is large)."""
    chunks, size = [], 0
    while size < MIN_WORKER_FILE_SIZE and (chunk := read(CHUNK_SIZE)):
        chunks.append(chunk)
        size += len(chunk)
    remaining = chain(chunks, iter(lambda: read(CHUNK_SIZE), b""))
    return lambda _size: next(remaining, b""), size >= MIN_WORKER_FILE_SIZE


@contextmanager
def _run_producer(read: ReadFunction, options: PrepareOptions) -> Iterator[Iterator[PreparedBatch]]:
    process = _start_worker(options)
    assert process.stdin
    assert process.stdout
    feeder = PipeFeeder(read, process.stdin, process.kill)
    feeder.start()
    try:
        yield _receive_batches(process, process.stdout, feeder)
    finally:
        process.kill()  # first, so that the feeder gets a broken pipe instead of blocking
        process.wait()
        feeder.join(timeout=1)  # it may block on standard input; as a daemon it ends with this process
        process.stdout.close()


def _start_worker(options: PrepareOptions) -> subprocess.Popen[bytes]:
    """Start the worker with `-P`, so that nothing is imported from the directory an import was started in."""
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": settings.SETTINGS_MODULE,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(settings.BASE_DIR), os.environ.get("PYTHONPATH")])),
    }
    process = subprocess.Popen(  # noqa: S603 - this interpreter, this program
        [sys.executable, "-P", "-c", WORKER_CODE, json.dumps(asdict(options))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    )
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):  # the limit is lower here; the default size works too
            fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, PIPE_SIZE)  # type: ignore[arg-type]  # it is a pipe
    return process


class PipeFeeder(threading.Thread):
    """Feed the worker's standard input.

    If reading fails, the worker is killed: closing its pipe would tell it that the file has ended.
    """

    def __init__(self, read: ReadFunction, out: IO[bytes], stop: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self._read, self._out, self._stop = read, out, stop
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            while chunk := self._read(CHUNK_SIZE):
                self._out.write(chunk)
        except BrokenPipeError:
            pass  # the worker has died, as the reader of its batches will see
        except BaseException as error:  # noqa: BLE001 - raised where the batches are read
            self.error = error
            self._stop()
        with suppress(BrokenPipeError):
            self._out.close()


def _receive_batches(
    process: subprocess.Popen[bytes], stream: IO[bytes], feeder: PipeFeeder
) -> Iterator[PreparedBatch]:
    while True:
        try:
            batch: PreparedBatch = pickle.load(stream)  # noqa: S301 - written by our own process
        except (EOFError, pickle.UnpicklingError) as error:
            if feeder.error:
                raise feeder.error from None
            message = f"The worker process that prepares entries exited with status {process.wait()}."
            raise WorkerStoppedError(message) from error
        yield batch
        if batch.is_last:
            return
