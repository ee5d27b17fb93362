"""Work is served by what its sender has cost so far, not by who came first."""

from __future__ import annotations

import pytest

from controlplane.server.front.fair_queue import FairQueue, Payer

ADA, BOB, MAX = Payer("acme", "ada"), Payer("acme", "bob"), Payer("other", "max")


def serve(queue: FairQueue[str], cost: dict[str, float], number: int) -> list[str]:
    """Take jobs one by one, each for the price that its first letter has."""
    order = []
    for _ in range(number):
        caller, job = queue.take(timeout=0)
        order.append(job)
        queue.give_back(caller, cost.get(job[0], 0.001))
    return order


def put(queue: FairQueue[str], caller: Payer, letter: str, number: int) -> None:
    for index in range(number):
        queue.put(caller, f"{letter}{index}")


def test_one_caller_is_served_in_order():
    queue: FairQueue[str] = FairQueue()
    put(queue, ADA, "a", 3)
    assert serve(queue, {}, 3) == ["a0", "a1", "a2"]
    assert queue.take(timeout=0) is None


def test_a_late_workspace_does_not_wait_for_the_queue_of_another():
    queue: FairQueue[str] = FairQueue()
    put(queue, ADA, "a", 100)
    serve(queue, {"a": 1.0}, 3)
    put(queue, MAX, "m", 2)
    assert serve(queue, {"a": 1.0}, 2) == ["m0", "m1"]


def test_two_workspaces_share_the_processor_whatever_their_calls_cost():
    queue: FairQueue[str] = FairQueue()
    put(queue, ADA, "a", 100)
    put(queue, MAX, "m", 1000)
    served = serve(queue, {"a": 0.1, "m": 0.01}, 220)
    spent = {"a": 0.0, "m": 0.0}
    for job in served:
        spent[job[0]] += {"a": 0.1, "m": 0.01}[job[0]]
    assert spent["a"] == pytest.approx(spent["m"], rel=0.15)


def test_two_tokens_of_one_workspace_share_its_part():
    queue: FairQueue[str] = FairQueue()
    put(queue, ADA, "a", 50)
    put(queue, BOB, "b", 50)
    served = [job[0] for job in serve(queue, {"a": 0.05, "b": 0.001}, 40)]
    assert served.count("b") >= 35


def test_time_that_a_workspace_did_not_use_is_no_credit():
    queue: FairQueue[str] = FairQueue()
    put(queue, MAX, "m", 1)
    serve(queue, {}, 1)
    put(queue, ADA, "a", 200)
    serve(queue, {"a": 1.0}, 100)
    put(queue, MAX, "m", 200)
    served = [job[0] for job in serve(queue, {"a": 1.0, "m": 1.0}, 100)]
    assert 40 <= served.count("a") <= 60


def test_one_workspace_holds_only_so_many_threads():
    queue: FairQueue[str] = FairQueue(max_running=2)
    put(queue, ADA, "a", 3)
    put(queue, MAX, "m", 1)
    taken = [queue.take(timeout=0) for _ in range(4)]
    assert sorted(job for _, job in filter(None, taken)) == ["a0", "a1", "m0"]
    queue.give_back(ADA, 0.001)
    assert queue.take(timeout=0) == (ADA, "a2")


def test_the_price_of_a_token_follows_what_its_calls_cost():
    queue: FairQueue[str] = FairQueue()
    put(queue, ADA, "a", 30)
    serve(queue, {"a": 0.5}, 20)
    assert queue.price(ADA) == pytest.approx(0.5, rel=0.1)
    assert queue.price(MAX) < 0.01
    assert queue.estimate_wait(ADA) == pytest.approx(5, rel=0.1)


def test_a_closed_queue_lets_its_threads_go():
    queue: FairQueue[str] = FairQueue()
    queue.close()
    assert queue.take() is None
