"""What happens when the machine does not play along: kill -9, SIGTERM, no database, no Redis."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time
from typing import TypeVar
from urllib.parse import urlsplit, urlunsplit

import pytest

from tests.live import LiveServer, free_port

pytestmark = pytest.mark.deep

IN_SCOPE = {"file_path": "src/auth/login.ts", "content": "export {}\n"}
OUTSIDE = {"file_path": "docs/design.md", "content": "# new\n"}


@pytest.fixture
def server(tmp_path):
    live = LiveServer(tmp_path)
    live.start()
    yield live
    live.close()


def recorded(server: LiveServer) -> set[str]:
    """Ids of the decisions that the ledger holds, read by a process of its own."""
    script = (
        "import json; from traces.models import LedgerEntry;"
        "print(json.dumps(list(LedgerEntry.objects.filter(kind='decision').values_list('entry_id', flat=True))))"
    )
    return set(json.loads(server.manage("shell", "-v0", "-c", script).strip().splitlines()[-1]))


def test_kill_9_under_load_loses_no_acknowledged_decision(server):
    tokens = server.workspace("acme")
    server.select(tokens["agent"], "s-1")
    acknowledged: list[str] = []
    done = threading.Event()

    def work(worker: int) -> None:
        number = 0
        while not done.is_set():
            number += 1
            call = IN_SCOPE | {"tool_use_id": f"{worker}-{number}"}
            status, answer = server.gate(tokens["agent"], "s-1", "Write", **call)
            if status == 200 and answer["decision"] == "allow":
                acknowledged.append(answer["decision_id"])
            elif status == 0:
                done.wait(0.05)  # leave the processor to the server that is starting

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    try:
        eventually(lambda: len(acknowledged) > 20, seconds=30)
        server.kill()
        server.start()
        before = len(acknowledged)
        eventually(lambda: len(acknowledged) > before)  # service resumes by itself
    finally:
        done.set()
        for worker in workers:
            worker.join()
    assert set(acknowledged) <= recorded(server)
    server.manage("verify_ledger", "--workspace", "acme")  # exit status 0: every entry verifies


def test_sigterm_ends_the_server_while_calls_wait(server):
    tokens = server.workspace("acme")
    server.select(tokens["agent"], "s-1")
    answers: list[tuple[int, object]] = []
    waiting = threading.Thread(
        target=lambda: answers.append(
            server.gate(tokens["agent"], "s-1", "Write", wait_seconds=50, **OUTSIDE)
        )
    )
    waiting.start()
    time.sleep(1)
    server.stop()
    waiting.join(10)
    status, answer = answers[0]
    assert (status, answer["decision"]) == (200, "ask"), "a held call is answered, not cut off"


def test_a_pending_approval_outlives_a_restart(server):
    tokens = server.workspace("acme")
    server.select(tokens["agent"], "s-1")
    approval = server.gate(tokens["agent"], "s-1", "Write", **OUTSIDE)[1]["approval"]["id"]
    server.kill()
    server.start()
    status, answer = server.api(
        tokens["reviewer"], "POST", f"approvals/{approval}/decide", {"action": "approve"}
    )
    assert (status, answer["status"]) == (200, "APPROVED")
    assert server.gate(tokens["agent"], "s-1", "Write", **OUTSIDE)[1]["decision"] == "allow"


def test_waiting_calls_hold_no_worker(server):
    """More calls wait than there are worker threads, and others are still answered at once."""
    tokens = server.workspace("acme")
    server.select(tokens["agent"], "s-1")
    answers: list[dict] = []

    def wait(number: int) -> None:
        call = {"file_path": f"docs/{number}.md", "content": "x", "wait_seconds": 40}
        answers.append(server.gate(tokens["agent"], "s-1", "Write", **call)[1])

    threads = [threading.Thread(target=wait, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    for _ in range(100):
        pending = server.api(tokens["reviewer"], "GET", "approvals?status=PENDING&limit=100")[1]["results"]
        if len(pending) == 24:
            break
        time.sleep(0.1)
    assert len(pending) == 24
    assert server.gate(tokens["agent"], "s-1", "Write", **IN_SCOPE)[1]["decision"] == "allow"
    assert answers == [], "it was answered while all the others still wait"
    for one in pending:
        server.api(tokens["reviewer"], "POST", f"approvals/{one['id']}/decide", {"action": "approve"})
    for thread in threads:
        thread.join(20)
    assert [answer["decision"] for answer in answers] == ["allow"] * 24


def test_an_approval_read_with_wait_is_held_until_it_is_rejected(server):
    tokens = server.workspace("acme")
    server.select(tokens["agent"], "s-1")
    approval = server.gate(tokens["agent"], "s-1", "Write", **OUTSIDE)[1]["approval"]["id"]
    threading.Timer(
        1,
        lambda: server.api(
            tokens["reviewer"], "POST", f"approvals/{approval}/decide", {"action": "reject", "comment": "No."}
        ),
    ).start()
    status, answer = server.api(tokens["agent"], "GET", f"approvals/{approval}?wait_seconds=50", timeout=40)
    assert (status, answer["status"], answer["comment"]) == (200, "REJECTED", "No.")


T = TypeVar("T", bound="Tollgate")


class Tollgate:
    """A TCP relay to PostgreSQL or Redis that can be shut: the service behind it is then away."""

    def __init__(self, host: str, port: int) -> None:
        self.to, self.port = (host, port), free_port()
        self.open = True
        self.sockets: list[socket.socket] = []
        self.listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            near, _ = self.listener.accept()
            if not self.open:
                near.close()
                continue
            far = socket.create_connection(self.to)
            self.sockets += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    def _pump(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                other.sendall(data)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def shut(self) -> None:
        self.open = False
        for one in self.sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self.sockets.clear()


def through_a_tollgate(server: LiveServer, variable: str, kind: type[T] = Tollgate) -> T:
    parts = urlsplit(server.env[variable])
    gate = kind(parts.hostname or "127.0.0.1", parts.port or 0)
    netloc = parts.netloc.rpartition("@")
    server.env[variable] = urlunsplit(parts._replace(netloc=f"{netloc[0]}{netloc[1]}127.0.0.1:{gate.port}"))
    return gate


def eventually(check, seconds: float = 10) -> None:
    ends = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < ends, "it did not come about in time"
        time.sleep(0.1)


@pytest.mark.skipif(
    not os.environ.get("ICP_DATABASE_URL", "").startswith("postgres"),
    reason="needs a database that can go away",
)
def test_without_a_database_the_gate_denies_and_resumes_by_itself(tmp_path):
    server = LiveServer(tmp_path)
    tollgate = through_a_tollgate(server, "ICP_DATABASE_URL")
    server.start()
    try:
        tokens = server.workspace("acme")
        server.select(tokens["agent"], "s-1")
        assert server.gate(tokens["agent"], "s-1", "Write", **IN_SCOPE)[1]["decision"] == "allow"
        tollgate.shut()
        for _ in range(20):
            status, answer = server.gate(tokens["agent"], "s-1", "Write", **IN_SCOPE)
            assert status in {500, 503}
            assert answer["decision"] == "deny"
        assert server.api(tokens["agent"], "GET", "sessions/s-1")[0] == 503
        tollgate.open = True
        eventually(lambda: server.gate(tokens["agent"], "s-1", "Write", **IN_SCOPE)[1]["decision"] == "allow")
    finally:
        server.close()


@pytest.mark.skipif(not os.environ.get("ICP_REDIS_URL"), reason="needs a Redis that can go away")
def test_without_redis_the_gate_goes_on_and_waiting_calls_are_answered(tmp_path):
    server = LiveServer(tmp_path)
    tollgate = through_a_tollgate(server, "ICP_REDIS_URL")
    server.start()
    try:
        tokens = server.workspace("acme")
        server.select(tokens["agent"], "s-1")
        tollgate.shut()
        assert server.gate(tokens["agent"], "s-1", "Write", **IN_SCOPE)[1]["decision"] == "allow"
        answers: list[dict] = []
        waiting = threading.Thread(
            target=lambda: answers.append(
                server.gate(tokens["agent"], "s-1", "Write", wait_seconds=20, **OUTSIDE)[1]
            )
        )
        waiting.start()
        eventually(lambda: server.api(tokens["reviewer"], "GET", "approvals?status=PENDING")[1]["results"])
        approval = server.api(tokens["reviewer"], "GET", "approvals?status=PENDING")[1]["results"][0]["id"]
        server.api(tokens["reviewer"], "POST", f"approvals/{approval}/decide", {"action": "approve"})
        waiting.join(10)
        assert answers[0]["decision"] == "allow"
    finally:
        server.close()
