"""Two server processes on PostgreSQL and Redis: one leads, another goes on, and restarts lose nothing."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import urllib.error
import urllib.request

import pytest

from tests.live import LiveServer
from tests.test_outages import IN_SCOPE, OUTSIDE, eventually, recorded

TAKE_OVER_SECONDS = 90  # loose: a killed leader is replaced within two seconds, a hung one within twelve
pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(
        not (
            os.environ.get("ICP_DATABASE_URL", "").startswith("postgres") and os.environ.get("ICP_REDIS_URL")
        ),
        reason="several processes need PostgreSQL and Redis",
    ),
]


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    first = LiveServer(tmp_path_factory.mktemp("nodes"))
    second = first.twin()
    yield first, second
    second.close()
    first.close()


@pytest.fixture
def nodes(installation):
    """Both processes, started again where an earlier test ended one."""
    for node in installation:
        if node.process is None or node.process.poll() is not None:
            node.start()
    return installation


def find_leader(nodes) -> tuple[LiveServer, LiveServer]:
    """The process that leads, and the other one."""
    leads: list[bool] = []

    def one_leads() -> bool:
        leads[:] = [node.read_metric("icp_background_leader") == 1 for node in nodes]
        return sum(leads) == 1

    eventually(one_leads, TAKE_OVER_SECONDS)
    first, second = nodes
    return (first, second) if leads[0] else (second, first)


def sealed(node: LiveServer, token: str) -> int:
    """The size of the newest signed head: the second line of the note."""
    request = urllib.request.Request(f"{node.url}/api/v1/ledger/checkpoint")
    request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(answer.read().splitlines()[1])
    except urllib.error.HTTPError:
        return 0


def record_and_await_seal(node: LiveServer, tokens: dict[str, str]) -> None:
    before = sealed(node, tokens["admin"])
    assert node.gate(tokens["agent"], "s-1", "Write", **IN_SCOPE)[1]["decision"] == "allow"
    eventually(lambda: sealed(node, tokens["admin"]) > before, TAKE_OVER_SECONDS)


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM])
def test_the_work_of_a_leader_that_ends_or_hangs_goes_on_elsewhere(nodes, signal_number):
    slug = f"acme-{signal_number.name.lower()}"
    tokens = nodes[0].workspace(slug)
    nodes[0].select(tokens["agent"], "s-1")
    leader, other = find_leader(nodes)
    record_and_await_seal(other, tokens)
    os.kill(leader.process.pid, signal_number)
    eventually(lambda: other.read_metric("icp_background_leader") == 1, TAKE_OVER_SECONDS)
    record_and_await_seal(other, tokens)
    if signal_number == signal.SIGSTOP:
        os.kill(leader.process.pid, signal.SIGCONT)
        assert find_leader(nodes) == (other, leader), (
            "who was thought dead does not lead beside the new leader"
        )
        record_and_await_seal(leader, tokens)
    other.manage("verify_ledger", "--workspace", slug)


def test_an_approval_asked_for_at_one_process_is_decided_at_the_other(nodes):
    first, second = nodes
    tokens = first.workspace("acme-approvals")
    first.select(tokens["agent"], "s-1")
    answers = []
    waiting = threading.Thread(
        target=lambda: answers.append(
            first.gate(tokens["agent"], "s-1", "Write", wait_seconds=50, **OUTSIDE)[1]
        )
    )
    waiting.start()
    pending: list[dict] = []
    eventually(
        lambda: (
            pending.extend(second.api(tokens["reviewer"], "GET", "approvals?status=PENDING")[1]["results"])
            or pending
        ),
        60,
    )
    second.api(tokens["reviewer"], "POST", f"approvals/{pending[0]['id']}/decide", {"action": "approve"})
    waiting.join(60)
    assert answers[0]["decision"] == "allow"


def test_a_rolling_restart_under_load_loses_no_call(nodes):
    """Callers that find one process away ask the other, as a proxy does for them."""
    tokens = nodes[0].workspace("acme-restart")
    nodes[0].select(tokens["agent"], "s-1")
    earlier = recorded(nodes[0])
    acknowledged: dict[str, str] = {}
    done = threading.Event()

    def call(call_id: str) -> None:
        for node in itertools.islice(itertools.cycle(nodes), 200):
            status, answer = node.gate(tokens["agent"], "s-1", "Write", tool_use_id=call_id, **IN_SCOPE)
            if status == 200:
                assert answer["decision"] == "allow", answer
                acknowledged[call_id] = answer["decision_id"]
                return
            done.wait(0.05)

    def work(worker: int) -> None:
        for number in itertools.count():
            call(f"{worker}-{number}")
            if done.is_set():
                assert f"{worker}-{number}" in acknowledged
                return

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    try:
        for node in nodes:
            before = len(acknowledged)
            eventually(lambda before=before: len(acknowledged) > before + 20, TAKE_OVER_SECONDS)
            node.stop()
            before = len(acknowledged)
            eventually(lambda before=before: len(acknowledged) > before + 20, TAKE_OVER_SECONDS)
            node.start()
    finally:
        done.set()
        for worker in workers:
            worker.join()
    entries = recorded(nodes[0]) - earlier
    assert set(acknowledged.values()) <= entries
    assert len(entries) == len(acknowledged), "no call was recorded twice, although some were sent twice"
    nodes[0].manage("verify_ledger", "--workspace", "acme-restart")
