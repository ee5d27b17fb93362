"""A database that is slow, locked, hung or full: a denial in seconds, probes at once, and back by itself."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import socket
import sqlite3
import subprocess
import threading
import time

import psycopg
import pytest

from tests.live import LiveServer
from tests.test_outages import Tollgate, eventually, recorded, through_a_tollgate

pytestmark = pytest.mark.deep

ANSWER_SECONDS = 12  # the timeout of a call, loose: the front denies after five
PROBE_SECONDS = 2  # the timeout of a probe, loose: it answers in milliseconds
IN_SCOPE = {"file_path": "src/auth/login.ts", "content": "export {}\n"}
on_postgresql = os.environ.get("ICP_DATABASE_URL", "").startswith("postgres")
needs_postgresql = pytest.mark.skipif(not on_postgresql, reason="needs PostgreSQL")
needs_sqlite = pytest.mark.skipif(on_postgresql, reason="needs SQLite")


@pytest.fixture
def server(tmp_path):
    live = LiveServer(tmp_path)
    live.start()
    yield live
    live.close()


@pytest.fixture
def tokens(server):
    return prepare(server)


def prepare(server: LiveServer) -> dict[str, str]:
    tokens = server.workspace("acme")
    server.select(tokens["agent"], "s-1")
    assert write(server, tokens, "warm")[1]["decision"] == "allow"
    return tokens


def write(server: LiveServer, tokens: dict[str, str], call_id: str, **more):
    return server.gate(
        tokens["agent"], "s-1", "Write", ANSWER_SECONDS, tool_use_id=call_id, **IN_SCOPE | more
    )


def deny_in_time(server: LiveServer, tokens: dict[str, str], calls: int = 9) -> list[str]:
    """Send calls at once while the database is away: each is denied in time, and probes go on."""
    answers: list[tuple[int, dict]] = []
    threads = [
        threading.Thread(target=lambda n=number: answers.append(write(server, tokens, f"away-{n}")))
        for number in range(calls)
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert probe(server, "healthz") == 200
        probe(server, "metrics")
        threads[-1].join(0.2)
    for status, answer in answers:
        assert (status, answer["decision"], answer["recoverable"]) == (503, "deny", True), answer
    return [answer["error"] for _, answer in answers]


def probe(server: LiveServer, name: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PROBE_SECONDS)
    connection.request("GET", f"/{name}")
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def goes_on(server: LiveServer, tokens: dict[str, str]) -> None:
    eventually(lambda: write(server, tokens, "after")[1]["decision"] == "allow", seconds=20)
    eventually(lambda: probe(server, "readyz") == 200, seconds=20)
    allowed = write(server, tokens, "after")[1]["decision_id"]
    assert allowed in recorded(server)
    server.manage("verify_ledger", "--workspace", "acme")


@needs_sqlite
def test_a_locked_file_denies_in_time(server, tokens):
    lock = sqlite3.connect(server.env["ICP_DATA_DIR"] + "/icp.sqlite3", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    try:
        deny_in_time(server, tokens)
        assert server.api(tokens["agent"], "GET", "sessions/s-1")[0] in {200, 503}
    finally:
        lock.execute("ROLLBACK")
        lock.close()
    goes_on(server, tokens)
    lines = server.log.read_text().splitlines()
    assert not [line for line in lines if "Traceback" in line]


@needs_sqlite
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("mount"), reason="needs to mount a small disk")
def test_a_full_disk_is_named(tmp_path):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(tmp_path)], check=True)
    server = LiveServer(tmp_path)
    try:
        server.start()
        tokens = prepare(server)
        filler = tmp_path / "filler"
        with contextlib.suppress(OSError), filler.open("wb") as file:
            while True:
                file.write(b"x" * 4096)
                file.flush()
        texts = [write(server, tokens, f"full-{n}", content="x" * 60_000)[1] for n in range(3)]
        refused = [answer for answer in texts if answer["decision"] == "deny"]
        assert refused
        assert all("disk" in answer["error"] for answer in refused), refused
        eventually(lambda: probe(server, "readyz") == 503)
        assert probe(server, "healthz") == 200
        filler.unlink()
        goes_on(server, tokens)
    finally:
        server.close()
        subprocess.run(["umount", "--lazy", str(tmp_path)], check=False)


@pytest.fixture
def admin_connection(server):
    with psycopg.connect(server.env["ICP_DATABASE_URL"]) as connection:
        yield connection


@needs_postgresql
@pytest.mark.parametrize("table", ["traces_ledgerentry", "agent_sessions_agentsession", "controlplane_token"])
def test_a_locked_table_denies_in_time(server, tokens, admin_connection, table):
    admin_connection.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
    try:
        deny_in_time(server, tokens)
    finally:
        admin_connection.rollback()
    goes_on(server, tokens)


class Marsh(Tollgate):
    """A relay that can hang: connections are taken and stay open, and nothing comes through."""

    def __init__(self, host: str, port: int) -> None:
        self.flows = threading.Event()
        self.flows.set()
        super().__init__(host, port)

    def _pump(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                self.flows.wait()
                other.sendall(data)
            other.shutdown(socket.SHUT_RDWR)


@needs_postgresql
def test_a_hung_server_denies_in_time(tmp_path):
    server = LiveServer(tmp_path)
    marsh = through_a_tollgate(server, "ICP_DATABASE_URL", Marsh)
    server.start()
    try:
        tokens = prepare(server)
        marsh.flows.clear()
        deny_in_time(server, tokens)
        deny_in_time(server, tokens)
        assert server.api(tokens["agent"], "GET", "sessions/s-1", timeout=60)[0] == 503
        assert probe(server, "readyz") == 503
        marsh.flows.set()
        goes_on(server, tokens)
    finally:
        marsh.flows.set()
        server.close()


@needs_postgresql
def test_a_database_that_is_away_is_a_denial_and_one_line_a_second(tmp_path):
    server = LiveServer(tmp_path)
    tollgate = through_a_tollgate(server, "ICP_DATABASE_URL")
    server.start()
    try:
        tokens = prepare(server)
        tollgate.shut()
        before, began = len(server.log.read_text().splitlines()), time.monotonic()
        for _ in range(10):
            deny_in_time(server, tokens)
        seconds = time.monotonic() - began
        lines = server.log.read_text().splitlines()[before:]
        assert not [line for line in lines if "Traceback" in line]
        assert len(lines) < 10 * (seconds + 5)
        eventually(lambda: probe(server, "readyz") == 503)
        tollgate.open = True
        goes_on(server, tokens)
    finally:
        server.close()
