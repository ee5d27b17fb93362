"""What is broken: one server process on SQLite, or two on PostgreSQL and Redis, reached through relays."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.live import LiveServer
from tests.test_outages import Tollgate, through_a_tollgate

DISK_MEGABYTES = 64
SQLITE, POSTGRESQL = "SQLite", "PostgreSQL"


class Relay(Tollgate):
    """A relay that can be shut, hang, or take its time."""

    def __init__(self, host: str, port: int) -> None:
        self.flows = threading.Event()
        self.flows.set()
        self.delay_seconds = 0.0
        super().__init__(host, port)

    def _pump(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                self.flows.wait()
                time.sleep(self.delay_seconds)
                other.sendall(data)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@dataclass(frozen=True, slots=True)
class Installation:
    nodes: list[LiveServer]
    folder: Path
    has_own_disk: bool
    database_url: str = ""  # past the relay; empty on SQLite
    database: Relay | None = None
    redis: Relay | None = None

    @property
    def kind(self) -> str:
        return POSTGRESQL if self.database else SQLITE


@contextlib.contextmanager
def install(folder: Path) -> Iterator[Installation]:
    """Serve in `folder`, on the database and Redis that the environment names."""
    with small_disk(folder) as has_own_disk:
        first = LiveServer(folder)
        installation = Installation([first], folder, has_own_disk)
        if first.env.get("ICP_DATABASE_URL", "").startswith("postgres"):
            url = first.env["ICP_DATABASE_URL"]
            database, redis = (
                through_a_tollgate(first, f"ICP_{name}_URL", Relay) for name in ("DATABASE", "REDIS")
            )
            installation = Installation([first, first.twin()], folder, has_own_disk, url, database, redis)
        try:
            for node in installation.nodes:
                node.start()
            yield installation
        finally:
            for node in reversed(installation.nodes):
                node.close()


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """Mount a disk that can be filled; without the right to mount say so, and use the folder as it is."""
    if os.geteuid() != 0 or not shutil.which("mount"):
        yield False
        return
    options = ["-t", "tmpfs", "-o", f"size={DISK_MEGABYTES}m", "tmpfs", str(folder)]
    is_mounted = subprocess.run(["mount", *options], check=False, capture_output=True).returncode == 0
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
