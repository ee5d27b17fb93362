"""Lock intents: one live session holds an intent, and one that is silent for too long loses it."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from controlplane.policy.model import Policy, SessionState
from intents.models import Intent
from sessions.lifecycle.open import record_session_event
from sessions.models import AgentSession


def find_holder(intent: Intent, policy: Policy, *, exclude: AgentSession) -> AgentSession | None:
    """Return another live session that holds the intent; None also where policy lets sessions share one."""
    if policy.shared_intents == "allow":
        return None
    return AgentSession.objects.live(policy, timezone.now()).holding(intent).exclude(pk=exclude.pk).first()


def lock_intent(session: AgentSession, intent: Intent, policy: Policy) -> None:
    """Give the intent to `session`, taking it from silent ones. Call it inside a transaction.

    The caller has made sure that no live session holds the intent, and has locked the intent's row.
    """
    if policy.shared_intents != "allow":
        for idle in AgentSession.objects.holding(intent).exclude(pk=session.pk):
            AgentSession.objects.filter(pk=idle.pk).apply_change(intent=None)
            record_session_event(idle, "released", f"session:{session.session_id}")
    AgentSession.objects.filter(pk=session.pk).apply_change(
        intent=intent,
        selected_intent_id=intent.intent_id,
        state=SessionState.ACTION.value,
        last_seen_at=timezone.now(),
    )
    session.refresh_from_db()


def reclaim_intent(session: AgentSession, policy: Policy) -> bool:
    """Give a session that was silent its intent back; False when another live one holds it by now."""
    with transaction.atomic():
        # The row lock makes two sessions that come back at once take turns: one of them finds a holder.
        intent = (
            Intent.objects.select_for_update()
            .filter(workspace_id=session.workspace_id, intent_id=session.selected_intent_id)
            .first()
        )
        if intent is None or find_holder(intent, policy, exclude=session) is not None:
            return False
        lock_intent(session, intent, policy)
        record_session_event(session, "reclaimed", f"session:{session.session_id}")
    return True
