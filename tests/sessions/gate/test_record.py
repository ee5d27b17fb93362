"""Which failures of the record mean "decide again", and which are failures."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from controlplane.shared.integrity import is_violation
from sessions.gate import record
from sessions.models import UNIQUE_PENDING_APPROVAL, AgentSession, Approval
from tests import builders

pytestmark = pytest.mark.django_db

OUT_OF_SCOPE = {"file_path": "docs/design.md", "content": "# no\n"}


@pytest.fixture
def at_work(acme, agent):
    builders.intent(acme)
    assert agent.select("INT-001")["success"]
    return agent


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
