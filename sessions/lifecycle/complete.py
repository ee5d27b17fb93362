"""Complete a session's intent, at once or after a human confirms, as policy says."""

from __future__ import annotations

from django.db import transaction

from controlplane.shared.masking import to_storable
from intents import registry
from sessions.approvals.lifecycle import find_pending, open_request
from sessions.approvals.reach import ReachRating
from sessions.lifecycle.request_scope import compute_request_digest
from sessions.lifecycle.session_context import load_active_context
from sessions.models import AgentSession, Approval


def complete_intent(session: AgentSession, notes: str, actor: str) -> Approval | None:
    """Complete the session's intent, or return the pending approval where policy has a human confirm.

    Raise SessionEndedError or IntentNotActiveError.
    """
    context = load_active_context(session)
    session, intent = context.session, context.intent
    assert intent is not None
    assert session.intent is not None
    if context.policy.completion == "agent":
        with transaction.atomic():
            registry.complete(session.intent, actor=actor, reason=notes)
        return None
    digest = compute_request_digest("completion", intent.intent_id, intent.revision, notes)
    return find_pending(session, digest) or open_request(
        session,
        kind=Approval.Kind.COMPLETION,
        digest=digest,
        timeout_minutes=context.policy.approval_timeout_minutes,
        reach=ReachRating(Approval.Reach.NARROW, "completes one intent"),
        call={"verification_notes": notes, "criteria": session.intent.acceptance_criteria},
        message=to_storable(notes),
        intent_id=intent.intent_id,
        intent_revision=intent.revision,
        workspace_revision=context.workspace.revision,
    )
