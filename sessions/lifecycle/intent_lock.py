"""Which live session holds an intent. A session that has been silent for too long holds nothing."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from controlplane.policy.model import Policy, SessionState
from intents.models import Intent
from sessions.lifecycle.open import record_session
from sessions.models import AgentSession


def holder_of(intent: Intent, policy: Policy, *, but: AgentSession) -> AgentSession | None:
    """Another live session that holds the intent; None too where policy lets sessions share one."""
    if policy.shared_intents == "allow":
        return None
    return AgentSession.objects.live(policy, timezone.now()).holding(intent).exclude(pk=but.pk).first()


def take(session: AgentSession, intent: Intent, policy: Policy) -> None:
    """Let `session` hold the intent; whoever was silent for too long loses it. Inside a transaction."""
    if policy.shared_intents != "allow":
        for idle in AgentSession.objects.holding(intent).exclude(pk=session.pk):
            AgentSession.objects.filter(pk=idle.pk).apply_change(intent=None)
            record_session(idle, "released", f"session:{session.session_id}")
    AgentSession.objects.filter(pk=session.pk).apply_change(
        intent=intent,
        selected_intent_id=intent.intent_id,
        state=SessionState.ACTION.value,
        last_seen_at=timezone.now(),
    )
    session.refresh_from_db()


def reclaim(session: AgentSession, policy: Policy) -> bool:
    """A session that was silent comes back: it gets its intent again unless another one has it by now."""
    with transaction.atomic():
        intent = (
            Intent.objects.select_for_update()
            .filter(workspace_id=session.workspace_id, intent_id=session.selected_intent_id)
            .first()
        )
        if intent is None or holder_of(intent, policy, but=session) is not None:
            return False
        take(session, intent, policy)
        record_session(session, "reclaimed", f"session:{session.session_id}")
    return True
