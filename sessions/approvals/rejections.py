"""What reviewers have refused to a session, for the snapshot: the core then asks nobody twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from controlplane.policy.globs.scope import Scope
from controlplane.policy.model import ErrorType, Policy, RejectedPath
from controlplane.policy.paths.canonical import fold_case
from sessions.models import AgentSession, Approval

REMEMBERED = 500  # decided approvals of one session, the newest


def words_of(decider: str, comment: str) -> str:
    """What the agent is told of a rejection."""
    said = comment.strip() or "no reason given"
    return f"Rejected by {decider}: {said}{'' if said.endswith(('.', '!', '?')) else '.'}"


def refused_paths(session: AgentSession, policy: Policy) -> tuple[RejectedPath, ...]:
    """The paths that were rejected and not approved since, with the reviewer's words. 1 query.

    An approval of a call lifts its own paths, a grant for the session or a wider scope what its patterns
    match. Each decision raises the revision of the session or of the workspace.
    """
    rows = Approval.objects.filter(
        session=session, status__in=[Approval.Status.APPROVED, Approval.Status.REJECTED]
    ).exclude(kind=Approval.Kind.COMPLETION)
    newest = rows.order_by("-decided_at", "-pk").values(
        "status", "kind", "error_type", "patterns", "decider", "comment", "call__offending", "call__targets"
    )[:REMEMBERED]
    refused: dict[str, RejectedPath] = {}
    for row in reversed(newest):
        if row["status"] == Approval.Status.REJECTED:
            refused |= _refused(row)
        else:
            _lift(refused, row, ignore_case=policy.case_insensitive_paths)
    return tuple(refused.values())


def _refused(row: Mapping[str, Any]) -> dict[str, RejectedPath]:
    words = words_of(row["decider"], row["comment"])
    whole = {target["path"]: target["recursive"] for target in row["call__targets"] or ()}
    return {path: RejectedPath(path, words, recursive=whole.get(path, False)) for path in _paths(row)}


def _lift(refused: dict[str, RejectedPath], row: Mapping[str, Any], *, ignore_case: bool) -> None:
    scope = Scope.from_patterns(tuple(row["patterns"]), case_insensitive=ignore_case)
    same = fold_case if ignore_case else str
    own = set(map(same, _paths(row)))
    for path in list(refused):
        if same(path) in own or scope.matches(path):
            del refused[path]


def _paths(row: Mapping[str, Any]) -> list[str]:
    """What a call was stopped for; without an intent it was stopped for all that it would change."""
    if row["error_type"] == ErrorType.MISSING_OR_INVALID_INTENT:
        return [target["path"] for target in row["call__targets"] or ()]
    return row["call__offending"] or []
