"""The process apart: whatever a text does to the parser, the server goes on and answers the next question."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from traces.mutation_class import EVOLUTION_CLASS, REFACTOR, worker, worker_client
from traces.mutation_class.compare import MAX_BYTES

QUESTION = ("a.py", "x = 1\n", "x = 1  # one\n")


@pytest.fixture(autouse=True)
def _own_worker(monkeypatch):
    """A worker of this test's, ended with it."""
    own = worker_client._Worker()
    monkeypatch.setattr(worker_client, "_worker", own)
    yield
    own.stop()


def running():
    process = worker_client._worker._process
    assert process is not None
    return process


def test_it_answers_as_the_function_does():
    assert worker_client.classify_in_worker(*QUESTION) == REFACTOR
    assert worker_client.classify_in_worker("a.py", "x = 1\n", "x = 2\n") == EVOLUTION_CLASS
    assert worker_client.classify_in_worker("a.py", "x = 1\n", "x = (\n") is None
    assert worker_client.classify_in_worker("a.py", "x = '\udc80'\n", "x = 1\n") is None


def test_one_process_answers_them_all():
    worker_client.classify_in_worker(*QUESTION)
    first = running().pid
    with ThreadPoolExecutor(4) as pool:
        answers = list(
            pool.map(
                lambda number: worker_client.classify_in_worker("a.py", "x = 1", f"x = {number % 2}"),
                range(12),
            )
        )
    assert answers == [EVOLUTION_CLASS, REFACTOR] * 6
    assert running().pid == first


def test_no_process_is_begun_for_what_nobody_could_compare():
    assert worker_client.classify_in_worker("a.txt", "x", "y") is None
    assert worker_client.classify_in_worker("a.py", "x", "x" * (MAX_BYTES + 1)) is None
    assert worker_client._worker._process is None


@pytest.mark.parametrize("piece", ["(", "a(", "{a:"])
def test_a_text_that_the_parser_chokes_on_costs_its_own_answer_alone(piece):
    text = piece * (MAX_BYTES // len(piece))
    assert worker_client.classify_in_worker("A.java", text, "class A {}") is None
    assert worker_client.classify_in_worker(*QUESTION) == REFACTOR


def test_a_process_that_was_killed_is_begun_anew():
    worker_client.classify_in_worker(*QUESTION)
    os.kill(running().pid, signal.SIGKILL)
    running().wait()
    assert worker_client.classify_in_worker(*QUESTION) == REFACTOR


def test_a_process_that_does_not_answer_is_ended(monkeypatch):
    worker_client.classify_in_worker(*QUESTION)
    silent = running()
    os.kill(silent.pid, signal.SIGSTOP)
    monkeypatch.setattr(worker_client, "TIMEOUT", 0.3)
    assert worker_client.classify_in_worker(*QUESTION) is None
    assert silent.poll() is not None


def test_while_many_wait_for_a_slow_text_nobody_else_is_kept(monkeypatch):
    crowded = worker_client._Worker(max_callers=1)
    asked, answered = threading.Event(), threading.Event()

    def slow(*_):
        asked.set()
        answered.wait(60)
        return REFACTOR

    monkeypatch.setattr(crowded, "_exchange", slow)
    monkeypatch.setattr(worker_client, "_worker", crowded)
    monkeypatch.setattr(worker_client, "TIMEOUT", 60)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(worker_client.classify_in_worker, *QUESTION)
        assert asked.wait(10)
        try:
            assert pool.submit(worker_client.classify_in_worker, *QUESTION).result(timeout=10) is None
        finally:
            answered.set()
        assert first.result(timeout=10) == REFACTOR


def test_it_knows_no_secret_of_the_servers(monkeypatch):
    monkeypatch.setenv("ICP_SECRET_KEY", "hidden")
    worker_client.classify_in_worker(*QUESTION)
    with open(f"/proc/{running().pid}/environ", "rb") as told:  # noqa: PTH123 - of the process, not of a folder
        assert b"ICP_" not in told.read()


def test_its_limits_are_those_of_the_system():
    worker_client.classify_in_worker(*QUESTION)
    with open(f"/proc/{running().pid}/limits", encoding="ascii") as told:  # noqa: PTH123
        limits = {line[:25].strip(): line[26:].split()[0] for line in told}
    assert limits["Max address space"] == str(worker.MAX_MEMORY)
    assert int(limits["Max cpu time"]) <= 60
    assert limits["Max core file size"] == "0"
