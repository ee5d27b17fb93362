"""Open an approval for what an agent will need: a wider scope, kinds of commands, places to read."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from controlplane.shared.errors import InvalidInputError
from controlplane.shared.masking import to_storable
from sessions.approvals.kinds.command_kinds import validate_kinds
from sessions.approvals.kinds.plans import READ, WRITE, validate_pattern
from sessions.approvals.lifecycle import find_pending, open_request
from sessions.approvals.reach import ReachRating
from sessions.errors import SessionEndedError, StoppedError
from sessions.lifecycle.session_context import load_active_context, load_context
from sessions.models import AgentSession, Approval


@dataclass(frozen=True, slots=True)
class ScopeRequest:
    """What an agent asks for once: patterns to write (or places to read), and kinds of commands."""

    patterns: tuple[str, ...]
    kinds: tuple[str, ...] = ()
    access: str = WRITE
    reason: str = ""


def request_scope(session: AgentSession, request: ScopeRequest) -> Approval:
    """Open or join the approval for a request.

    Raise InvalidInputError for a malformed one, StoppedError, SessionEndedError, and IntentNotActiveError for
    writing without an intent: whoever only reads needs none.
    """
    patterns, kinds = tuple(dict.fromkeys(request.patterns)), tuple(dict.fromkeys(request.kinds))
    _validate(patterns, kinds, request.access)
    is_reading = request.access == READ and not kinds
    context = load_context(session) if is_reading else load_active_context(session)
    if context.stopped:
        raise StoppedError(context.stopped)
    if context.session.ended:
        raise SessionEndedError
    intent = context.intent
    intent_id = intent.intent_id if intent is not None else ""
    # The digest of a plain request stays what it was before plans had kinds: pending ones are joined.
    extra = [sorted(kinds), request.access] if kinds or request.access == READ else []
    digest = compute_request_digest("scope", intent_id, sorted(patterns), *extra)
    return find_pending(session, digest) or open_request(
        context.session,
        kind=Approval.Kind.SCOPE,
        digest=digest,
        timeout_minutes=context.policy.approval_timeout_minutes,
        reach=_rate(request),
        call={
            "patterns": list(patterns),
            "kinds": list(kinds),
            "access": request.access,
            "reason": to_storable(request.reason),
        },
        message=to_storable(request.reason),
        intent_id=intent_id,
        intent_revision=intent.revision if intent is not None else 0,
        workspace_revision=context.workspace.revision,
    )


def _validate(patterns: tuple[str, ...], kinds: tuple[str, ...], access: str) -> None:
    if access not in {READ, WRITE}:
        raise InvalidInputError("access: must be read or write.")
    if not patterns and not kinds:
        raise InvalidInputError("patterns: ask for at least one pattern or one kind.")
    for pattern in patterns:
        validate_pattern(pattern, access)
    validate_kinds(kinds)


def _rate(request: ScopeRequest) -> ReachRating:
    if request.access == READ:
        return ReachRating(Approval.Reach.MEDIUM, "reads outside the workspace")
    if any(pattern.startswith(("**", "*")) for pattern in request.patterns):
        return ReachRating(Approval.Reach.WIDE, "a pattern for the whole tree")
    return ReachRating(Approval.Reach.MEDIUM, "permanent until edited")


def compute_request_digest(kind: str, *parts: object) -> str:
    text = json.dumps([kind, *parts], sort_keys=True, ensure_ascii=False)
    return f"{kind}:{hashlib.sha256(text.encode()).hexdigest()}"
