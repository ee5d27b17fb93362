"""The server may end at any statement of a report, an answer or a landing: nothing is lost, nothing twice.

A crash is an error at one statement, whose transaction is rolled back; the client sends the same again.
"""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from django.db import connection

from sessions.models import Approval, ContainedRun
from tests.sessions.runs.builders import created, deleted, land, modified, report, start
from traces.models import LedgerEntry, TraceFile

pytestmark = pytest.mark.django_db(transaction=True)
FILES = (created("src/auth/a.ts"), deleted("src/auth/b.ts"), modified("docs/c.md", "1\n", "2\n"))


class Crash(BaseException):
    """As the end of the process: no handler of the application sees it."""


@contextmanager
def crash_at(number: int):
    """Let the writing statement of this number fail, and yield a list that says whether it came to that."""
    writes: list[str] = []

    def execute(run, sql, params, many, context):
        if sql.lstrip().upper().startswith(("INSERT", "UPDATE", "DELETE")):
            writes.append(sql)
            if len(writes) == number:
                raise Crash(sql)
        return run(sql, params, many, context)

    with connection.execute_wrapper(execute):
        yield writes


def crash_everywhere(act, check) -> int:
    """Do it with a crash at each of its writing statements in turn, and then without one."""
    for number in range(1, 60):
        try:
            with crash_at(number) as writes:
                act()
        except Crash:
            check()
            continue
        assert len(writes) < number
        return number - 1
    raise AssertionError("it never ended")


def count_entries():
    kinds = LedgerEntry.objects.filter(kind__in=["trace", "approval"]).values_list("kind", "outcome")
    runs = LedgerEntry.objects.filter(kind="session", outcome="run").count()
    return sorted(kinds), runs, TraceFile.objects.count(), Approval.objects.count()


@pytest.fixture
def run(at_work):
    return start(at_work)


def test_a_report_is_taken_whole_or_not_at_all(at_work, run):
    def is_untouched():
        assert ContainedRun.objects.get().status == "ALLOWED"
        assert count_entries() == ([], 0, 0, 0)

    crashes = crash_everywhere(lambda: report(at_work, run, *FILES), is_untouched)
    assert crashes >= 8
    kinds, runs, traces, approvals = count_entries()
    assert (len(kinds), runs, traces, approvals) == (3, 1, 2, 1)
    again = report(at_work, run, *FILES)
    assert (again["land"], again["hold"]) == (["src/auth/a.ts", "src/auth/b.ts"], ["docs/c.md"])
    assert count_entries() == (kinds, runs, traces, approvals)


def test_an_answer_is_given_whole_or_not_at_all(at_work, run, reviewer):
    approval = report(at_work, run, *FILES)["approval"]["id"]

    def is_pending():
        assert Approval.objects.get().status == "PENDING"
        assert land(at_work, run)["hold"] == ["docs/c.md"]

    def decide():
        return reviewer.post(f"approvals/{approval}/decide", {"action": "approve"})

    assert crash_everywhere(decide, is_pending) >= 2
    assert land(at_work, run)["land"] == ["docs/c.md"]


def test_a_landing_is_recorded_once(at_work, run, reviewer):
    answer = report(at_work, run, *FILES)
    reviewer.post(f"approvals/{answer['approval']['id']}/decide", {"action": "approve"})

    def is_not_recorded():
        assert not TraceFile.objects.filter(path="docs/c.md").exists()

    assert crash_everywhere(lambda: land(at_work, run), is_not_recorded) >= 3
    assert land(at_work, run)["land"] == ["docs/c.md"]
    assert TraceFile.objects.filter(path="docs/c.md").count() == 1
