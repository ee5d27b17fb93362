"""Open an approval for a wider scope, as an agent requests it."""

from __future__ import annotations

import hashlib
import json

from controlplane.policy.globs import parse
from controlplane.shared.errors import InvalidInputError
from controlplane.shared.masking import to_storable
from sessions.approvals.lifecycle import find_pending, open_request
from sessions.approvals.reach import ReachRating
from sessions.lifecycle.session_context import load_active_context
from sessions.models import AgentSession, Approval


def request_scope(session: AgentSession, patterns: list[str], reason: str) -> Approval:
    """Open or join the approval for these patterns. Raise InvalidInputError for a malformed one."""
    patterns = list(dict.fromkeys(patterns))
    for pattern in patterns:
        problem = parse.find_problem(pattern)
        if problem is not None:
            raise InvalidInputError(f"patterns: {problem.message}", error_type=problem.kind, pattern=pattern)
    context = load_active_context(session)
    intent = context.intent
    assert intent is not None
    digest = compute_request_digest("scope", intent.intent_id, sorted(patterns))
    is_wide = any(pattern.startswith(("**", "*")) for pattern in patterns)
    return find_pending(session, digest) or open_request(
        context.session,
        kind=Approval.Kind.SCOPE,
        digest=digest,
        timeout_minutes=context.policy.approval_timeout_minutes,
        reach=ReachRating(Approval.Reach.WIDE, "a pattern for the whole tree")
        if is_wide
        else ReachRating(Approval.Reach.MEDIUM, "permanent until edited"),
        call={"patterns": patterns, "reason": reason},
        message=to_storable(reason),
        intent_id=intent.intent_id,
        intent_revision=intent.revision,
        workspace_revision=context.workspace.revision,
    )


def compute_request_digest(kind: str, *parts: object) -> str:
    text = json.dumps([kind, *parts], sort_keys=True, ensure_ascii=False)
    return f"{kind}:{hashlib.sha256(text.encode()).hexdigest()}"
