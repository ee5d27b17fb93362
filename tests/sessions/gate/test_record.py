"""Which failures of the record mean "decide again", and which are failures."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction

from controlplane.shared.integrity import is_violation
from controlplane.shared.tokens import find_bearer, revoke_token
from intents.rules.policy import change_policy
from sessions.gate import record, snapshot_cache
from sessions.gate.check import check_steps
from sessions.gate.request import parse_gate_request
from sessions.models import UNIQUE_PENDING_APPROVAL, AgentSession, Approval
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db

OUT_OF_SCOPE = {"file_path": "docs/design.md", "content": "# no\n"}


def copy_of(row, **changes):
    row.pk = None
    for name, value in changes.items():
        setattr(row, name, value)
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        row.save(force_insert=True)
    return caught.value


def test_a_second_pending_approval_for_one_call_is_named_by_its_constraint(at_work):
    at_work.gate("Write", **OUT_OF_SCOPE)
    error = copy_of(Approval.objects.get(), public_id="another")
    assert is_violation(error, Approval, UNIQUE_PENDING_APPROVAL)


def test_other_violations_are_told_apart(at_work):
    at_work.gate("Write", **OUT_OF_SCOPE)
    same_id = copy_of(Approval.objects.get(), digest="another")
    same_session = copy_of(AgentSession.objects.get())
    assert not is_violation(same_id, Approval, UNIQUE_PENDING_APPROVAL)
    assert not is_violation(same_session, Approval, UNIQUE_PENDING_APPROVAL)


def test_an_identical_ask_that_was_first_is_joined(at_work, monkeypatch):
    """Another process opens the same approval between this one's look and its insert."""
    real, approvals = record.follow_up, []

    def lose_the_race(bearer, outcome):
        if not approvals:
            approvals.append(outcome.approval.public_id)
            raise _violation()
        return real(bearer, outcome)

    def _violation():
        approval = Approval._meta.db_table
        return IntegrityError(f"UNIQUE constraint failed: {approval}.session_id, {approval}.digest")

    monkeypatch.setattr(record, "follow_up", lose_the_race)
    assert at_work.gate("Write", **OUT_OF_SCOPE)["decision"] == "ask"
    assert len(approvals) == 1


def test_any_other_violation_is_a_failure_and_not_retried(at_work, monkeypatch):
    attempts = []

    def fail(*_):
        attempts.append(1)
        raise IntegrityError("UNIQUE constraint failed: somewhere.else")

    monkeypatch.setattr(record, "follow_up", fail)
    answer = at_work.post("gate", {"session_id": "s-1", "tool": "Write", "input": OUT_OF_SCOPE})
    assert (answer.status_code, answer.json()["decision"]) == (503, "deny")
    assert len(attempts) == 1


def decide_all(agent, *calls):
    """The decisions of several calls, none of them recorded yet."""
    bearer = find_bearer(agent.secret)
    steps = [
        check_steps(bearer, parse_gate_request({"session_id": "s-1", "tool": "Write", **call}, 100))
        for call in calls
    ]
    return [next(one) for one in steps]


def write(name, **more):
    return {"input": {"file_path": f"src/auth/{name}.ts", "content": name}, **more}


def decisions():
    return list(LedgerEntry.objects.filter(kind="decision").order_by("pk").values_list("entry_id", flat=True))


def test_decisions_recorded_together_are_all_in_the_ledger(at_work):
    recorded = record.record_together(decide_all(at_work, write("a"), write("b"), write("c")))
    assert [outcome.decision_id for outcome in recorded] == decisions()[-3:]


def test_each_decision_of_a_group_is_bound_to_its_own_snapshot(at_work, acme):
    before = decide_all(at_work, write("a"))
    change_policy(acme, {"conflicts": "ask"}, actor="ada")
    snapshot_cache.forget_all()
    after = decide_all(at_work, write("b"))
    stale, current = record.record_together([*before, *after])
    assert stale is None
    assert current.decision_id == decisions()[-1]
    assert len(decisions()) == 1


def test_the_same_call_twice_in_a_group_is_one_entry(at_work):
    twice = decide_all(at_work, *[write("a", tool_use_id="t-1")] * 2, write("b", tool_use_id="t-2"))
    first, again, other = record.record_together(twice)
    assert first.decision_id == again.decision_id != other.decision_id
    assert len(decisions()) == 2


def test_a_call_that_was_recorded_before_is_found_from_within_a_group(at_work):
    (once,) = record.record_together(decide_all(at_work, write("a", tool_use_id="t-1")))
    again, other = record.record_together(decide_all(at_work, write("a", tool_use_id="t-1"), write("b")))
    assert again.decision_id == once.decision_id
    assert other.decision_id == decisions()[-1]


def test_a_revoked_token_records_nothing_in_a_group(at_work):
    decided = decide_all(at_work, write("a"), write("b"))
    revoke_token(at_work.token)
    assert record.record_together(decided) == [None, None]
    assert decisions() == []


def test_a_group_costs_one_statement_a_decision(at_work, django_assert_num_queries):
    decided = decide_all(at_work, *[write(str(number)) for number in range(10)])
    statements = 10 if connection.vendor == "postgresql" else 20
    with django_assert_num_queries(statements + 2):  # and a savepoint around them, in a test
        record.record_together(decided)
