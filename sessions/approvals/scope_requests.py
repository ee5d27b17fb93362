"""An agent asks for a wider scope instead of running into its borders."""

from __future__ import annotations

import hashlib
import json

from controlplane.api.errors import ApiError
from controlplane.policy.globs import parse
from sessions.approvals.lifecycle import open_request, pending_for
from sessions.approvals.reach import Reach
from sessions.gate import snapshot
from sessions.models import AgentSession, Approval


def active_snapshot(session: AgentSession) -> snapshot.Held:
    """The session's snapshot. Raises `ApiError` 409 unless it is alive with an active intent."""
    held = snapshot.read_snapshot(session)
    intent = held.snapshot.intent
    if held.session.ended:
        raise ApiError(409, "SESSION_ENDED", "This session has ended. Start a new session.", reason="ended")
    if intent is None or held.snapshot.intent_held_by_other or intent.status != "IN_PROGRESS":
        error = "You must cite a valid active Intent ID. Call select_active_intent first."
        raise ApiError(409, "MISSING_OR_INVALID_INTENT", error)
    return held


def request_scope(session: AgentSession, patterns: list[str], reason: str) -> Approval:
    """Open (or join) the approval for these patterns. Raises `ApiError` 400 for a pattern that cannot be."""
    patterns = list(dict.fromkeys(patterns))
    for pattern in patterns:
        problem = parse.find_problem(pattern)
        if problem is not None:
            raise ApiError(400, problem.kind, f"patterns: {problem.message}", pattern=pattern)
    held = active_snapshot(session)
    assert held.snapshot.intent is not None
    intent = held.snapshot.intent
    digest = request_digest("scope", intent.intent_id, sorted(patterns))
    wide = any(pattern.startswith(("**", "*")) for pattern in patterns)
    return pending_for(session, digest) or open_request(
        held.session,
        kind=Approval.Kind.SCOPE,
        digest=digest,
        timeout_minutes=held.snapshot.policy.approval_timeout_minutes,
        reach=Reach(Approval.Reach.WIDE, "a pattern for the whole tree")
        if wide
        else Reach(Approval.Reach.MEDIUM, "a wider scope stays until somebody narrows it"),
        call={"patterns": patterns, "reason": reason},
        message=reason,
        intent_id=intent.intent_id,
        intent_revision=intent.revision,
        workspace_revision=held.workspace_revision,
    )


def request_digest(kind: str, *parts: object) -> str:
    text = json.dumps([kind, *parts], sort_keys=True, ensure_ascii=False)
    return f"{kind}:{hashlib.sha256(text.encode()).hexdigest()}"
