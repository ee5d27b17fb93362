"""End sessions, and freeze them until a person has looked."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from controlplane.policy.model import SessionState
from sessions.approvals.lifecycle import cancel_pending
from sessions.lifecycle.open import record_session_event
from sessions.models import AgentSession


def end_session(
    session: AgentSession, actor: str, *, by: AgentSession.EndedBy = AgentSession.EndedBy.PERSON
) -> bool:
    """End a session, release its intent and cancel its approvals; False when it had ended before.

    A person ends it for good, also after its client did.
    """
    now, rows = timezone.now(), AgentSession.objects.filter(pk=session.pk)
    with transaction.atomic():
        ended = rows.not_ended().apply_change(
            state=SessionState.ENDED.value, ended_at=now, intent=None, ended_by=by.value
        )
        if ended:
            record_session_event(session, "ended", actor, by=by.value)
            cancel_pending(session, actor)
        elif by is AgentSession.EndedBy.PERSON:
            ended_by_client = rows.filter(ended_by=AgentSession.EndedBy.CLIENT)
            if ended_by_client.apply_change(ended_by=by.value):
                record_session_event(session, "ended", actor, by=by.value)
    return bool(ended)


def freeze_session(session: AgentSession, actor: str, *, frozen: bool) -> bool:
    """Stop or allow again every destructive call of a session; False when it was so already."""
    with transaction.atomic():
        changed = AgentSession.objects.filter(pk=session.pk, frozen=not frozen).apply_change(frozen=frozen)
        if changed:
            record_session_event(session, "frozen" if frozen else "unfrozen", actor)
    return bool(changed)
