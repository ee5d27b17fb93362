"""Apply what a recorded decision changes: its approval, a used grant, the session's state and life.

Runs in the transaction that records the decision.
"""

from __future__ import annotations

from dataclasses import replace

from django.utils import timezone

from controlplane.policy.model import SessionState
from controlplane.shared.tokens import Bearer
from sessions.approvals.lifecycle import open_approval
from sessions.gate import snapshot_cache
from sessions.gate.denial_alerts import alert_on_repeated_denials
from sessions.gate.outcome import GateOutcome
from sessions.lifecycle.open import record_session_event
from sessions.models import AgentSession, ApprovalGrant


def follow_up(bearer: Bearer, outcome: GateOutcome) -> bool:
    """Apply the effects; False when they cannot be, so that the decision must be rolled back."""
    session, approval = outcome.snapshot.session, outcome.approval
    if approval is not None and approval.pk is None:
        open_approval(approval, outcome.decision_id or "")
    if outcome.decision.grant_id and not _use_grant(outcome):
        return False
    if outcome.is_counted_denial:
        alert_on_repeated_denials(outcome)
    if outcome.state is not outcome.snapshot.core.state:
        _begin_reasoning(session, bearer.actor)
    if outcome.is_touch_due:
        now = timezone.now()
        AgentSession.objects.filter(pk=session.pk).touch(now)
        snapshot_cache.remember(replace(outcome.snapshot, seen_at=now))
    return True


def _use_grant(outcome: GateOutcome) -> bool:
    """Spend a `once` grant; False when another call spent it first."""
    session, call_id = outcome.snapshot.session, outcome.request.call.call_id or ""
    grant = ApprovalGrant.objects.get(public_id=outcome.decision.grant_id)
    # A retry of the call that spent the grant is let through again; a call without an id is never a retry.
    if grant.kind != ApprovalGrant.Kind.ONCE or (grant.used_at and grant.used_by == call_id != ""):
        return True
    # Compare-and-set: of two calls at once, the one that updates the row has the grant.
    is_spent = ApprovalGrant.objects.spend(grant, call_id)
    if is_spent:
        snapshot_cache.forget(session.workspace_id, session.session_id)
    return is_spent


def _begin_reasoning(session: AgentSession, actor: str) -> None:
    unbegun = AgentSession.objects.filter(pk=session.pk, state=SessionState.REQUEST.value)
    if unbegun.apply_change(state=SessionState.REASONING.value):
        record_session_event(session, "reasoning", actor)
    snapshot_cache.forget(session.workspace_id, session.session_id)
