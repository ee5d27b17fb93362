"""How each reviewer decides: how much, how fast, how often not, and how often without opening the card."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from statistics import median

from django.db.models import CharField, Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat

from sessions.approvals.history.filters import DELAY
from sessions.models import Approval, ApprovalOpening

MAX_DECISIONS = 20_000  # the newest ones are looked at
DECIDED = (Approval.Status.APPROVED, Approval.Status.REJECTED)


@dataclass(frozen=True, slots=True)
class ReviewerFigures:
    """What one person, or one token, decided in a time."""

    name: str
    decisions: int
    rejected: int
    approved: int
    unopened: int  # approvals whose card the same person had not opened
    median_milliseconds: int

    @property
    def rejected_percent(self) -> int:
        return round(100 * self.rejected / self.decisions)

    @property
    def unopened_percent(self) -> int | None:
        return round(100 * self.unopened / self.approved) if self.approved else None


def compute_reviewer_figures(rows: QuerySet[Approval], *, own_name: str | None) -> list[ReviewerFigures]:
    """Return the figures by person, most decisions first. 1 query.

    `rows` come from `HistoryFilters.apply`. With `own_name` only those of this person.
    """
    decided = rows.filter(status__in=DECIDED).exclude(decider="")
    if own_name is not None:
        decided = decided.filter(decider=own_name)
    newest = decided.annotate(delay=DELAY, is_opened=_was_opened()).order_by("-pk")
    by_name = defaultdict(list)
    for name, status, delay, is_opened in newest.values_list("decider", "status", "delay", "is_opened")[
        :MAX_DECISIONS
    ]:
        by_name[name].append((status, delay, is_opened))
    figures = [_summarize(name, decisions) for name, decisions in by_name.items()]
    return sorted(figures, key=lambda one: (-one.decisions, one.name))


def _was_opened() -> Exists:
    """Whether the card was opened under a name of the decider: of the person, or of the token."""
    opener = {
        kind: Concat(Value(f"{kind}:"), Cast(OuterRef(column), CharField()))
        for kind, column in (("user", "decided_by_id"), ("token", "decided_by_token_id"))
    }
    openings = ApprovalOpening.objects.filter(approval=OuterRef("pk"))
    return Exists(openings.filter(Q(opener=opener["user"]) | Q(opener=opener["token"])))


def _summarize(name: str, decisions: list[tuple[str, timedelta, bool]]) -> ReviewerFigures:
    approved = [is_opened for status, _, is_opened in decisions if status == Approval.Status.APPROVED]
    return ReviewerFigures(
        name=name,
        decisions=len(decisions),
        rejected=len(decisions) - len(approved),
        approved=len(approved),
        unopened=approved.count(False),
        median_milliseconds=round(1000 * median(delay.total_seconds() for _, delay, _ in decisions)),
    )
