"""Apply what a recorded decision changes: its approval, a used grant, the session's state and life.

Runs in the transaction that records the decision.
"""

from __future__ import annotations

from dataclasses import replace

from django.utils import timezone

from controlplane.policy.model import SessionState
from controlplane.shared.tokens import Bearer
from intents.rules.command_rules import count_uses
from sessions.approvals.grants import spend_once_grant
from sessions.approvals.lifecycle import open_approval
from sessions.gate import snapshot_cache
from sessions.gate.monitoring.denial_alerts import alert_on_repeated_denials
from sessions.gate.outcome import GateOutcome
from sessions.lifecycle.contained_run import save_run
from sessions.lifecycle.open import record_session_event
from sessions.models import AgentSession, ApprovalGrant


def follow_up(bearer: Bearer, outcome: GateOutcome) -> bool:
    """Apply the effects; False when they cannot be, so that the decision must be rolled back."""
    session, approval = outcome.snapshot.session, outcome.approval
    if approval is not None and approval.pk is None:
        open_approval(approval, outcome.decision_id or "")
    if outcome.decision.grant_id and not _use_grant(outcome):
        return False
    if outcome.used_rules:
        count_uses(session.workspace_id, outcome.used_rules, timezone.now())
    if outcome.run is not None:
        save_run(outcome.run, outcome.decision_id or "")
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
    """Spend the grant that allows the call; False when another call spent it first."""
    session = outcome.snapshot.session
    grant = ApprovalGrant.objects.get(public_id=outcome.decision.grant_id)
    spent = spend_once_grant(grant, outcome.request.call.call_id or "")
    if spent:
        snapshot_cache.forget(session.workspace_id, session.session_id)
    return spent is not False


def _begin_reasoning(session: AgentSession, actor: str) -> None:
    unbegun = AgentSession.objects.filter(pk=session.pk, state=SessionState.REQUEST.value)
    if unbegun.apply_change(state=SessionState.REASONING.value):
        record_session_event(session, "reasoning", actor)
    snapshot_cache.forget(session.workspace_id, session.session_id)
