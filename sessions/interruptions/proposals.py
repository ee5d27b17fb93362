"""Rules that past decisions suggest: "approved 12 times by 3 people, never rejected"."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from controlplane.policy.effects import is_dangerous_form
from controlplane.shared.errors import ConflictError
from intents.models import WorkspaceRule
from intents.rules.command_rules import NewRule
from sessions.interruptions.asks import Ask, list_asks
from sessions.models import Approval
from traces.counts.decisions import DecisionFilters

MIN_APPROVALS, MIN_PEOPLE = 10, 2
LEARNED_DAYS, SPARED_DAYS = 90, 14
MAX_PROPOSALS = 50


@dataclass(frozen=True, slots=True)
class RuleProposal:
    """A kind that could become a rule.

    `spared` and `seconds_spared` are what the rule would have taken away in the last 14 days: questions of
    this kind alone, or of kinds that have rules already. `rejected` are the questions that it would have let
    through although a person rejected them: a proposal with any is not offered.
    """

    kind: str
    effect: str
    approved: int
    people: tuple[str, ...]
    rejected: int
    asks: int  # in the last 14 days, whatever else those calls do
    spared: int
    seconds_spared: float
    since: datetime

    @property
    def milliseconds_spared(self) -> int:
        return round(1000 * self.seconds_spared)

    @property
    def is_offered(self) -> bool:
        return self.obstacle == ""

    @property
    def obstacle(self) -> str:
        """Why no rule is offered; "" where one is."""
        if is_dangerous_form(self.kind):
            return "never offered: a dangerous form"
        if self.rejected:
            return f"{self.rejected} like it rejected"
        if self.approved < MIN_APPROVALS:
            return f"needs {MIN_APPROVALS - self.approved} more approvals"
        if len(self.people) < MIN_PEOPLE:
            return "needs a second person"
        return ""


def list_proposals(workspace_id: int, now: datetime | None = None) -> list[RuleProposal]:
    """Return what past decisions say about each kind without a rule, offered ones first. 2 queries."""
    now = now or timezone.now()
    since = now - timedelta(days=LEARNED_DAYS)
    asks = [
        ask for ask in list_asks(DecisionFilters(workspace_id, since, now)) if ask.is_about_commands_alone
    ]
    rules = WorkspaceRule.objects.for_workspace(workspace_id).live().values_list("kind", "permission")
    ruled = dict(rules)
    allowed = {kind for kind, permission in ruled.items() if permission == WorkspaceRule.Permission.ALLOW}
    by_kind: defaultdict[str, list[Ask]] = defaultdict(list)
    for ask in asks:
        for kind in ask.kinds:
            if kind not in ruled:
                by_kind[kind].append(ask)
    proposals = [_build(kind, items, allowed, now) for kind, items in by_kind.items()]
    proposals.sort(key=lambda item: (not item.is_offered, -item.spared, -item.asks, item.kind))
    return proposals[:MAX_PROPOSALS]


def find_proposal(workspace_id: int, kind: str) -> RuleProposal | None:
    return next((item for item in list_proposals(workspace_id) if item.kind == kind), None)


def to_new_rule(proposal: RuleProposal, owner: str) -> NewRule:
    """Return the rule of a proposal. Raise ConflictError where past decisions do not carry it."""
    if not proposal.is_offered:
        raise ConflictError(f"No rule is offered for {proposal.kind}: {proposal.obstacle}.")
    learned_from = {
        "approved": proposal.approved,
        "people": list(proposal.people),
        "rejected": proposal.rejected,
        "spared": proposal.spared,
        "days": SPARED_DAYS,
    }
    return NewRule(proposal.kind, owner=owner, learned_from=learned_from)


def _build(kind: str, asks: list[Ask], allowed: set[str], now: datetime) -> RuleProposal:
    recent_since = now - timedelta(days=SPARED_DAYS)
    approved = [ask for ask in asks if ask.status == Approval.Status.APPROVED]
    recent = [ask for ask in asks if ask.requested_at >= recent_since]
    spared = [ask for ask in recent if _would_spare(ask, kind, allowed)]
    rejected = [ask for ask in asks if ask.status == Approval.Status.REJECTED]
    return RuleProposal(
        kind=kind,
        effect=next(effect for name, effect in asks[0].parts if name == kind),
        approved=len(approved),
        people=tuple(sorted({ask.decider for ask in approved})),
        rejected=sum(_would_spare(ask, kind, allowed) for ask in rejected),
        asks=len(recent),
        spared=len(spared),
        seconds_spared=_sum_seconds(spared),
        since=asks[-1].requested_at,
    )


def _would_spare(ask: Ask, kind: str, allowed: set[str]) -> bool:
    """Return whether the call would have run without a person if the kind had been allowed."""
    return set(ask.kinds) <= {kind, *allowed}


def _sum_seconds(asks: Iterable[Ask]) -> float:
    return sum(ask.seconds or 0 for ask in asks)
