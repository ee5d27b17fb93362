"""Decide several approvals with one answer; what cannot be decided keeps waiting and says why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from controlplane.shared.errors import DomainError
from sessions.approvals import lifecycle
from sessions.approvals.decision_input import Decider, DecisionInput
from sessions.approvals.triage.openings import is_irreversible, list_opened
from sessions.errors import NotOpenedError
from sessions.models import Approval

MAX_APPROVALS = 200


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What became of one approval of a batch; `error` is None where the answer took effect."""

    approval: Approval
    error: DomainError | None = None


def decide_all(approvals: Sequence[Approval], decider: Decider, decision: DecisionInput) -> list[BatchResult]:
    """Decide each by itself, in the given order: one that fails stops none of the others.

    Nobody approves unseen what cannot be undone: such a card has to be opened by the same decider first.
    """
    unopened = _list_unopened(approvals, decider) if decision.action == "approve" else set()
    return [
        _decide(approval, decider, decision, is_opened=approval.pk not in unopened) for approval in approvals
    ]


def _list_unopened(approvals: Iterable[Approval], decider: Decider) -> set[int]:
    irreversible = {approval.pk for approval in approvals if is_irreversible(approval)}
    return irreversible - list_opened(irreversible, decider) if irreversible else set()


def _decide(approval: Approval, decider: Decider, decision: DecisionInput, *, is_opened: bool) -> BatchResult:
    try:
        if not is_opened and approval.status == Approval.Status.PENDING:
            raise NotOpenedError
        return BatchResult(lifecycle.decide(approval, decider, decision))
    except DomainError as error:
        approval.refresh_from_db()
        return BatchResult(approval, error)
