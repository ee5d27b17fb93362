"""Read the questions that people were asked, each as a plain value."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from controlplane.policy.effects import Effect
from controlplane.policy.model import Reason
from sessions.models import Approval
from traces.counts.decisions import DecisionFilters

MAX_ASKS = 50_000  # of one interval; the newest count
QUESTIONS = (Approval.Kind.CALL, Approval.Kind.RUN)  # a run asks afterwards, and interrupts as much
COLUMNS = (
    "refused",
    "reason",
    "session__agent_name",
    "intent_id",
    "status",
    "decider",
    "requested_at",
    "decided_at",
)


@dataclass(frozen=True, slots=True)
class Ask:
    """One question: the kinds and effects that raised it, who waited, how it ended and how long that took.

    A question about a path has no kind of command: its reason stands in the place of the kind.
    """

    parts: tuple[tuple[str, str], ...]  # (kind, effect)
    reason: str
    agent: str
    intent_id: str
    session_id: int
    status: str
    decider: str
    requested_at: datetime
    seconds: float | None  # None while it is pending

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(kind for kind, _ in self.parts))

    @property
    def effects(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(effect for _, effect in self.parts))

    @property
    def is_about_commands_alone(self) -> bool:
        """Whether a rule about kinds could have spared it."""
        return self.reason == Reason.UNKNOWN_TARGET and all(kind for kind, _ in self.parts)


def list_asks(filters: DecisionFilters) -> list[Ask]:
    """Return the questions about calls, and about what runs changed, newest first. 1 query."""
    rows = Approval.objects.for_workspace(filters.workspace_id).filter(
        kind__in=QUESTIONS, requested_at__gte=filters.since, requested_at__lt=filters.until
    )
    if filters.agent:
        rows = rows.filter(session__agent_name=filters.agent)
    if filters.intent_id:
        rows = rows.filter(intent_id=filters.intent_id)
    rows = rows.select_related("session").only(*COLUMNS).order_by("-requested_at")
    return [_to_ask(approval) for approval in rows[:MAX_ASKS]]


def _to_ask(approval: Approval) -> Ask:
    reason, decided_at = approval.reason, approval.decided_at
    parts = tuple((part["kind"], part["effect"]) for part in approval.refused)
    if not parts:
        effect = Effect.UNKNOWN if reason == Reason.UNKNOWN_TARGET else Effect.WRITES
        parts = ((reason, effect.value),)
    return Ask(
        parts=parts,
        reason=reason,
        agent=approval.session.agent_name,
        intent_id=approval.intent_id,
        session_id=approval.session_id,
        status=approval.status,
        decider=approval.decider,
        requested_at=approval.requested_at,
        seconds=(decided_at - approval.requested_at).total_seconds() if decided_at else None,
    )
