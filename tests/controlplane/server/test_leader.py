"""Of several processes one leads; when its session ends, another does."""

from __future__ import annotations

import pytest
from django.db import connection

from controlplane.server import background, leader
from controlplane.server.background import BackgroundLoops
from controlplane.server.leader import Leadership
from controlplane.shared import metrics

# A lock of a session stands beside all transactions, so tests that are rolled back may use it. The key is their
# own, since servers of other tests may lead.
pytestmark = pytest.mark.django_db

on_postgresql = pytest.mark.skipif("connection.vendor != 'postgresql'", reason="only there several serve")


@pytest.fixture
def rivals(monkeypatch):
    monkeypatch.setattr(leader, "LOCK_KEY", 0x1CF2 << 40)
    pair = Leadership(), Leadership()
    yield pair
    for one in pair:
        one._drop_connection()


def who_leads(rivals) -> list[bool]:
    for one in rivals:
        one.beat()
    return [one.is_held for one in rivals]


@on_postgresql
def test_one_leads_for_as_long_as_it_beats(rivals):
    assert who_leads(rivals) == [True, False]
    assert who_leads(rivals) == [True, False]


@on_postgresql
def test_another_leads_when_the_session_of_the_leader_ends(rivals):
    first, second = rivals
    who_leads(rivals)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(%s, 5000)", [first._connection.connection.info.backend_pid]
        )
    second.beat()
    assert second.is_held
    first.beat()
    assert not first.is_held, "its session was ended, and with it went its lock"
    assert who_leads(rivals) == [False, True]


@on_postgresql
def test_the_database_ends_the_session_of_a_leader_that_falls_silent(rivals):
    who_leads(rivals)
    with rivals[0]._connection.cursor() as cursor:
        cursor.execute("SHOW idle_session_timeout")
        assert cursor.fetchone() == (f"{leader.SILENCE_SECONDS}s",)


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="there one process serves")
def test_on_sqlite_whoever_serves_leads(rivals):
    assert who_leads(rivals)[0]


def test_a_process_that_does_not_lead_leaves_the_work_of_the_leader(monkeypatch):
    runs = []
    of_leader = ("seal", 1.0, lambda: runs.append("seal"))
    of_each = ("measure", 1.0, lambda: runs.append("measure"))
    monkeypatch.setattr(background, "LEADER_LOOPS", (of_leader,))
    loops = BackgroundLoops()
    loops.run_once(of_leader)
    loops.run_once(of_each)
    assert runs == ["measure"]
    loops._leadership._set(leads=True)
    loops.run_once(of_leader)
    assert runs == ["measure", "seal"]


def test_work_that_fails_is_counted_and_tried_again(monkeypatch, caplog):
    before = read_failures()
    BackgroundLoops().run_once(("measure", 1.0, lambda: 1 / 0))
    assert read_failures() == before + 1
    assert "could not measure; trying again" in caplog.text


def read_failures() -> float:
    return metrics.BACKGROUND_FAILURES.labels("measure")._value.get()
