"""Rate how far an approval reaches: it sorts the queue and decides how easy approving is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from controlplane.policy.model import Decision, ErrorType, Reason
from sessions.approvals.triage.dangers import Danger
from sessions.models import Approval

MAX_FILES = 10


@dataclass(frozen=True, slots=True)
class ReachRating:
    level: Approval.Reach
    reason: str


def rate_reach(
    decision: Decision, other_owners: Collection[str], dangers: Collection[Danger] = ()
) -> ReachRating:
    """Rate a decision. `other_owners`: ids of other intents whose scope matches a target."""
    files = _count_files(len(decision.targets))
    shared = f"{files}, also owned by {', '.join(sorted(other_owners)[:3])}"
    has_deletion = any(target.op == "delete" or target.recursive for target in decision.targets)
    rules = (
        (bool(decision.unknown), Approval.Reach.WIDE, "unknown targets"),
        (decision.reason == Reason.PROTECTED_PATH, Approval.Reach.WIDE, "protected path"),
        (has_deletion, Approval.Reach.WIDE, "deletes files"),
        (bool(dangers), Approval.Reach.WIDE, next((danger.reason for danger in dangers), "")),
        (len(decision.targets) > MAX_FILES, Approval.Reach.WIDE, files),
        (bool(other_owners), Approval.Reach.MEDIUM, shared),
        (
            decision.error_type is ErrorType.STALE_FILE,
            Approval.Reach.MEDIUM,
            f"{files}, changed since the agent read it",
        ),
        (
            not decision.targets and bool(decision.offending),
            Approval.Reach.MEDIUM,
            f"reads {_count_files(len(decision.offending))}",
        ),
        (not decision.targets, Approval.Reach.MEDIUM, "names no file"),
    )
    for applies, level, reason in rules:
        if applies:
            return ReachRating(level, reason)
    return ReachRating(Approval.Reach.NARROW, f"{files}, no other owner")


def rate_run(held: Sequence[Mapping[str, Any]], dangers: Collection[Danger] = ()) -> ReachRating:
    """Rate what waits of a contained run: it is known to the byte, so its dangers are named, not feared."""
    files = _count_files(len(held))
    grave = next((danger.reason for danger in dangers if danger.severity > 1), "")
    if grave or len(held) > MAX_FILES:
        return ReachRating(Approval.Reach.WIDE, f"{files} of a run{', ' if grave else ''}{grave}")
    return ReachRating(Approval.Reach.MEDIUM, f"{files} of a run, every change known")


def _count_files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"
