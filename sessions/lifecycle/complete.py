"""Complete a session's intent, at once or after a human confirms, as policy says."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from controlplane.policy.model import IntentStatus
from controlplane.shared.masking import to_storable
from intents import registry
from intents.evidence.records import BY_POLICY
from sessions.approvals.lifecycle import find_pending, open_request
from sessions.approvals.reach import ReachRating
from sessions.errors import IntentNotActiveError
from sessions.lifecycle.claims import CLAIMS_FIELD, build_claims
from sessions.lifecycle.request_scope import compute_request_digest
from sessions.lifecycle.session_context import SessionContext, load_active_context
from sessions.models import AgentSession, Approval


def complete_intent(session: AgentSession, notes: str, actor: str, evidence: Any = None) -> Approval | None:
    """Complete the session's intent, or return the pending approval where policy has a human confirm.

    `evidence` is what the agent sent to prove criteria, of any form. It is kept with the intent as a claim
    until the completion confirms it. Raise SessionEndedError, IntentNotActiveError or InvalidInputError.
    """
    context = load_active_context(session)
    session, intent = context.session, context.session.intent
    assert intent is not None
    claims, notes = build_claims(session, intent, evidence), to_storable(notes)
    with transaction.atomic():
        if claims:
            reason = f"evidence for {len(claims)} of {len(intent.acceptance_criteria)} criteria"
            registry.claim_criteria(intent, claims, actor=actor, reason=reason)
            if intent.status != IntentStatus.IN_PROGRESS:  # somebody has closed it meanwhile
                raise IntentNotActiveError
        if context.policy.completion == "agent":
            registry.complete(intent, actor=actor, confirmed_by=BY_POLICY, reason=notes)
            return None
        return _request_completion(context, notes)


def _request_completion(context: SessionContext, notes: str) -> Approval:
    session, intent = context.session, context.session.intent
    assert intent is not None
    digest = compute_request_digest("completion", intent.intent_id, intent.version, notes)
    return find_pending(session, digest) or open_request(
        session,
        kind=Approval.Kind.COMPLETION,
        digest=digest,
        timeout_minutes=context.policy.approval_timeout_minutes,
        reach=ReachRating(Approval.Reach.NARROW, "completes one intent"),
        # What the card shows is what its approval confirms.
        call={"verification_notes": notes, CLAIMS_FIELD: intent.acceptance_evidence},
        message=notes,
        intent_id=intent.intent_id,
        intent_revision=intent.version,
        workspace_revision=context.workspace.revision,
    )
