"""Approvals: opening, joining, deciding, expiring, cancelling. One compare-and-set ends each; first wins."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from controlplane.shared.masking import to_storable
from sessions.approvals.decision_input import Decider, DecisionInput, GrantTerms
from sessions.approvals.grants import apply_grant, validate_grant
from sessions.approvals.reach import ReachRating
from sessions.approvals.rejection_lesson import save_lesson, validate_lesson
from sessions.errors import AlreadyDecidedError, AlreadyExtendedError, OwnRequestError
from sessions.models import AgentSession, Approval
from traces.ledger.append import NewEntry, append

EXTENSION = timedelta(minutes=5)
EXPIRE_BATCH = 200


def open_approval(approval: Approval, decision_id: str) -> None:
    """Save a planned approval after its decision. Raises `IntegrityError` when an identical one was first."""
    approval.decision_id = decision_id
    approval.save(force_insert=True)
    record_approval(approval, "requested", f"session:{approval.session.session_id}")


def find_pending(session: AgentSession, digest: str) -> Approval | None:
    """The open approval for a digest; one that is overdue is expired first."""
    approval = find_latest(session, digest, Approval.Status.PENDING)
    if approval is not None and approval.expires_at <= timezone.now():
        expire(approval)
        return None
    return approval


def open_request(session: AgentSession, **fields: Any) -> Approval:
    """A new pending approval that no call led to; joins an identical one that won the race."""
    approval = build_approval(session, **fields)
    try:
        with transaction.atomic():
            open_approval(approval, "")
    except IntegrityError:
        return Approval.objects.for_call(session, approval.digest).pending().select_related("workspace").get()
    return approval


def build_approval(
    session: AgentSession, *, timeout_minutes: int, reach: ReachRating, **fields: Any
) -> Approval:
    """Not yet saved."""
    now = timezone.now()
    return Approval(
        workspace_id=session.workspace_id,
        session=session,
        requested_at=now,
        expires_at=now + timedelta(minutes=timeout_minutes),
        reach=reach.level,
        reach_why=reach.reason,
        **fields,
    )


def decide(approval: Approval, decider: Decider, choice: DecisionInput) -> Approval:
    """End a pending approval. Raise OwnRequestError, AlreadyDecidedError or InvalidGrantError."""
    require_other_decider(approval, decider)
    validate_lesson(choice)
    if approval.status == Approval.Status.PENDING and approval.expires_at <= timezone.now():
        expire(approval)
        approval.refresh_from_db()
    _require_pending(approval)
    approved = choice.action == "approve"
    grant = validate_grant(approval, choice) if approved else GrantTerms()
    with transaction.atomic():
        if not _save_decision(
            approval,
            Approval.Status.APPROVED if approved else Approval.Status.REJECTED,
            decider,
            choice,
            grant,
        ):
            approval.refresh_from_db()
            _require_pending(approval)
        approval.refresh_from_db()
        record_approval(approval, "decided", decider.actor)
        if approved:
            apply_grant(approval, grant, decider)
        else:  # what is held of the session does not know of it yet
            AgentSession.objects.filter(pk=approval.session_id).apply_change()
            save_lesson(approval, decider, choice)
    return approval


def require_other_decider(approval: Approval, decider: Decider) -> None:
    """Nobody decides for their own session: neither its token nor the person it acts for."""
    token = approval.session.token
    is_own = decider.token_id == token.pk or (
        decider.user_id is not None and decider.user_id == token.acts_for_id
    )
    if is_own:
        raise OwnRequestError


def extend(approval: Approval, decider: Decider) -> Approval:
    """Five more minutes, once. Raise OwnRequestError, AlreadyDecidedError or AlreadyExtendedError."""
    require_other_decider(approval, decider)
    with transaction.atomic():
        extended = (
            Approval.objects.decidable(timezone.now())
            .filter(pk=approval.pk, extended=False)
            .update(extended=True, expires_at=F("expires_at") + EXTENSION)
        )
        approval.refresh_from_db()
        if not extended:
            _require_pending(approval)
            raise AlreadyExtendedError
        record_approval(approval, "extended", decider.actor)
    return approval


def expire(approval: Approval) -> bool:
    """Record that nobody decided in time; False when somebody did, or time is left."""
    return _end_undecided(approval, Approval.Status.EXPIRED, "clock", expires_at__lte=timezone.now())


def expire_overdue(now: datetime | None = None) -> int:
    """Expire what is due, for the server's background loop. Returns how many."""
    overdue = Approval.objects.overdue(now or timezone.now()).order_by("expires_at")
    return sum(expire(approval) for approval in overdue[:EXPIRE_BATCH])


def cancel_pending(session: AgentSession, actor: str) -> int:
    """Cancel what an ended session still asks for."""
    pending = Approval.objects.pending().filter(session=session)
    return sum(_end_undecided(approval, Approval.Status.CANCELLED, actor) for approval in pending)


def record_approval(approval: Approval, event: str, actor: str) -> None:
    """One ledger entry a change; it is also the event that open pages receive."""
    append(
        NewEntry(
            workspace_id=approval.workspace_id,
            kind="approval",
            session_id=approval.session.session_id,
            intent_id=approval.intent_id,
            outcome=approval.status,
            agent=approval.session.agent_name,
            tool=approval.tool,
            error_type=approval.error_type,
            reason=approval.reason,
            actor=actor,
            body={
                "event": event,
                "approval_id": approval.public_id,
                "kind": approval.kind,
                "status": approval.status,
                "decision_id": approval.decision_id,
                "digest": approval.digest,
                "targets": approval.call.get("offending") or approval.patterns,
                "reach": approval.get_reach_display().lower(),
                "expires_at": approval.expires_at.isoformat(),
                "decider": approval.decider,
                "grant": approval.grant_kind,
                "patterns": approval.patterns,
                "minutes": approval.minutes,
                "comment": to_storable(approval.comment),
            },
        )
    )


def find_latest(session: AgentSession, digest: str, status: Approval.Status) -> Approval | None:
    """Return the newest approval of this status for exactly this call. 1 query."""
    matching = Approval.objects.with_relations().for_call(session, digest).filter(status=status)
    return matching.order_by("-pk").first()


def _require_pending(approval: Approval) -> None:
    if approval.status == Approval.Status.PENDING:
        return
    endings = {
        Approval.Status.EXPIRED: "It expired before anybody decided.",
        Approval.Status.CANCELLED: "It was cancelled because its session ended.",
    }
    text = endings.get(
        Approval.Status(approval.status), f"{approval.decider} was first: {approval.status.lower()}."
    )
    raise AlreadyDecidedError(text, approval_status=approval.status, decided_by=approval.decider)


def _save_decision(
    approval: Approval, status: Approval.Status, decider: Decider, choice: DecisionInput, grant: GrantTerms
) -> bool:
    """The compare-and-set: deadline and status inside one UPDATE."""
    now = timezone.now()
    return bool(
        Approval.objects.decidable(now)
        .filter(pk=approval.pk)
        .update(
            status=status,
            decided_at=now,
            decided_by_id=decider.user_id,
            decided_by_token_id=decider.token_id,
            decider=decider.name,
            comment=choice.comment,
            grant_kind=grant.kind,
            patterns=list(grant.patterns),
            minutes=grant.minutes,
        )
    )


def _end_undecided(approval: Approval, status: Approval.Status, actor: str, **condition: Any) -> bool:
    with transaction.atomic():
        pending = Approval.objects.pending().filter(pk=approval.pk, **condition)
        closed = pending.update(status=status, decided_at=timezone.now())
        if closed:
            approval.refresh_from_db()
            record_approval(approval, status.lower(), actor)
    return bool(closed)
