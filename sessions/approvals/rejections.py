"""List what reviewers rejected in a session, for the gate's snapshot, so that nobody is asked twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from controlplane.policy.globs.scope import Scope
from controlplane.policy.model import ErrorType, Policy, RejectedPath
from controlplane.policy.paths.canonical import fold_case
from sessions.models import AgentSession, Approval

MAX_DECISIONS = 500  # decided approvals of one session, the newest


def format_rejection(decider: str, comment: str) -> str:
    """Return the text that the agent reads about a rejection."""
    text = comment.strip() or "no reason given"
    return f"Rejected by {decider}: {text}{'' if text.endswith(('.', '!', '?')) else '.'}"


def list_rejected_paths(session: AgentSession, policy: Policy) -> tuple[RejectedPath, ...]:
    """Return the paths rejected and not approved since, with the reviewer's comment. 1 query.

    Approving a call lifts the rejection of its own paths; a grant for the session or a wider scope lifts that
    of all paths its patterns match. Each decision raises the revision of the session or of the workspace.
    """
    rows = Approval.objects.filter(
        session=session, status__in=[Approval.Status.APPROVED, Approval.Status.REJECTED]
    ).exclude(kind=Approval.Kind.COMPLETION)
    decisions = rows.order_by("-decided_at", "-pk").values(
        "status", "kind", "error_type", "patterns", "decider", "comment", "call__offending", "call__targets"
    )[:MAX_DECISIONS]
    rejected: dict[str, RejectedPath] = {}
    # Oldest first: a later approval lifts an earlier rejection, and a later rejection stands again.
    for row in reversed(decisions):
        if row["status"] == Approval.Status.REJECTED:
            rejected |= _build_rejected_paths(row)
        else:
            _remove_approved(rejected, row, ignore_case=policy.case_insensitive_paths)
    return tuple(rejected.values())


def _build_rejected_paths(row: Mapping[str, Any]) -> dict[str, RejectedPath]:
    reason = format_rejection(row["decider"], row["comment"])
    recursive = {target["path"]: target["recursive"] for target in row["call__targets"] or ()}
    return {
        path: RejectedPath(path, reason, recursive=recursive.get(path, False)) for path in _list_paths(row)
    }


def _remove_approved(rejected: dict[str, RejectedPath], row: Mapping[str, Any], *, ignore_case: bool) -> None:
    scope = Scope.from_patterns(tuple(row["patterns"]), case_insensitive=ignore_case)
    normalize = fold_case if ignore_case else str
    approved = set(map(normalize, _list_paths(row)))
    for path in list(rejected):
        if normalize(path) in approved or scope.matches(path):
            del rejected[path]


def _list_paths(row: Mapping[str, Any]) -> list[str]:
    """Return the paths that a call was held for; without an intent, all that it would change."""
    if row["error_type"] == ErrorType.MISSING_OR_INVALID_INTENT:
        return [target["path"] for target in row["call__targets"] or ()]
    return row["call__offending"] or []
