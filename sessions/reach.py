"""How far an approval would reach: it sorts the queue and decides how easy approving may be."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from controlplane.policy.model import Decision, ErrorType, Reason
from sessions.models import Approval

FILES_MANY = 10


@dataclass(frozen=True, slots=True)
class Reach:
    level: Approval.Reach
    why: str


def reach_of(decision: Decision, other_owners: Collection[str]) -> Reach:
    """`other_owners`: other intents whose scope holds one of the targets."""
    if decision.unknown:
        return Reach(Approval.Reach.WIDE, "what it writes cannot be known")
    if decision.reason == Reason.PROTECTED_PATH:
        return Reach(Approval.Reach.WIDE, "a protected path")
    if any(target.op == "delete" or target.recursive for target in decision.targets):
        return Reach(Approval.Reach.WIDE, "deletes files")
    if len(decision.targets) > FILES_MANY:
        return Reach(Approval.Reach.WIDE, f"{len(decision.targets)} files")
    files = "1 file" if len(decision.targets) == 1 else f"{len(decision.targets)} files"
    if other_owners:
        return Reach(Approval.Reach.MEDIUM, f"{files}, also owned by {', '.join(sorted(other_owners)[:3])}")
    if decision.error_type is ErrorType.STALE_FILE:
        return Reach(Approval.Reach.MEDIUM, f"{files}, changed underneath")
    if not decision.targets:
        return Reach(Approval.Reach.MEDIUM, "no file is named")
    return Reach(Approval.Reach.NARROW, f"{files} that no other intent owns")
