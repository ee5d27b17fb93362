"""Rate how far an approval reaches: it sorts the queue and decides how easy approving is."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from controlplane.policy.model import Decision, ErrorType, Reason
from sessions.models import Approval

MAX_FILES = 10


@dataclass(frozen=True, slots=True)
class ReachRating:
    level: Approval.Reach
    reason: str


def rate_reach(decision: Decision, other_owners: Collection[str]) -> ReachRating:
    """Rate a decision. `other_owners`: ids of other intents whose scope matches a target."""
    files = "1 file" if len(decision.targets) == 1 else f"{len(decision.targets)} files"
    shared = f"{files}, also owned by {', '.join(sorted(other_owners)[:3])}"
    has_deletion = any(target.op == "delete" or target.recursive for target in decision.targets)
    rules = (
        (bool(decision.unknown), Approval.Reach.WIDE, "unknown targets"),
        (decision.reason == Reason.PROTECTED_PATH, Approval.Reach.WIDE, "protected path"),
        (has_deletion, Approval.Reach.WIDE, "deletes files"),
        (len(decision.targets) > MAX_FILES, Approval.Reach.WIDE, files),
        (bool(other_owners), Approval.Reach.MEDIUM, shared),
        (
            decision.error_type is ErrorType.STALE_FILE,
            Approval.Reach.MEDIUM,
            f"{files}, changed since the agent read it",
        ),
        (not decision.targets, Approval.Reach.MEDIUM, "names no file"),
    )
    for applies, level, reason in rules:
        if applies:
            return ReachRating(level, reason)
    return ReachRating(Approval.Reach.NARROW, f"{files}, no other owner")
