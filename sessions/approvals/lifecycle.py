"""Open, join, decide, extend, expire and cancel approvals.

One compare-and-set ends each of them, so the first decision wins.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from controlplane.shared.masking import cut_text, to_storable
from sessions.approvals.decision_input import Decider, DecisionInput, GrantTerms
from sessions.approvals.grants import apply_grant, validate_grant
from sessions.approvals.kinds.mcp_judgement import judge_called_tool, validate_judgement
from sessions.approvals.reach import ReachRating
from sessions.approvals.rejection_lesson import save_lesson, validate_lesson
from sessions.approvals.triage.dangers import find_dangers
from sessions.approvals.triage.shapes import build_search_text, compute_shape
from sessions.errors import AlreadyDecidedError, AlreadyExtendedError, OwnRequestError
from sessions.models import AgentSession, Approval
from traces.ledger.append import NewEntry, append

EXTENSION = timedelta(minutes=5)
EXPIRE_BATCH = 200
MAX_RECORDED_TEXT = 2_000  # characters of a message


def open_approval(approval: Approval, decision_id: str) -> None:
    """Save an approval after its decision. Raise IntegrityError when an identical one is pending."""
    approval.decision_id = decision_id
    approval.save(force_insert=True)
    record_approval(approval, "requested", f"session:{approval.session.session_id}")


def find_pending(session: AgentSession, digest: str) -> Approval | None:
    """Return the pending approval for a digest; expire it instead when it is overdue."""
    approval = find_latest(session, digest, Approval.Status.PENDING)
    if approval is not None and approval.expires_at <= timezone.now():
        expire(approval)
        return None
    return approval


def open_request(session: AgentSession, **fields: Any) -> Approval:
    """Open an approval that no call led to, or join an identical pending one."""
    approval = build_approval(session, **fields)
    try:
        # The savepoint keeps the caller's transaction usable after the IntegrityError.
        with transaction.atomic():
            open_approval(approval, "")
    except IntegrityError:
        return Approval.objects.for_call(session, approval.digest).pending().select_related("workspace").get()
    return approval


def build_approval(
    session: AgentSession, *, timeout_minutes: int, reach: ReachRating, **fields: Any
) -> Approval:
    """Return a new, unsaved approval."""
    now = timezone.now()
    approval = Approval(
        workspace_id=session.workspace_id,
        session=session,
        requested_at=now,
        expires_at=now + timedelta(minutes=timeout_minutes),
        reach=reach.level,
        reach_why=reach.reason,
        **fields,
    )
    approval.danger = max((danger.severity for danger in find_dangers(approval.call)), default=0)
    approval.shape = compute_shape(approval)
    approval.search_text = build_search_text(approval)
    return approval


def decide(approval: Approval, decider: Decider, decision: DecisionInput) -> Approval:
    """End a pending approval. Raise OwnRequestError, AlreadyDecidedError or InvalidGrantError."""
    require_other_decider(approval, decider)
    validate_lesson(decision)
    # Expire it first, so that the answer says "expired" and not merely that it cannot be decided.
    if approval.status == Approval.Status.PENDING and approval.expires_at <= timezone.now():
        expire(approval)
        approval.refresh_from_db()
    _require_pending(approval)
    is_approved = decision.action == "approve"
    # Validated before the write: a malformed pattern leaves the approval pending.
    grant = validate_grant(approval, decision, decider) if is_approved else GrantTerms()
    if decision.tool_reads_only:
        validate_judgement(approval, decider)
    with transaction.atomic():
        if not _save_decision(
            approval,
            Approval.Status.APPROVED if is_approved else Approval.Status.REJECTED,
            decider,
            decision,
            grant,
        ):
            approval.refresh_from_db()
            _require_pending(approval)
        approval.refresh_from_db()
        record_approval(approval, "decided", decider.actor)
        if is_approved:
            apply_grant(approval, grant, decider)
            if decision.tool_reads_only:
                judge_called_tool(approval, decider)
        else:  # no grant raises the revision, so cached snapshots would still ask for this call
            AgentSession.objects.filter(pk=approval.session_id).apply_change()
            save_lesson(approval, decider, decision)
    return approval


def require_other_decider(approval: Approval, decider: Decider) -> None:
    """Raise OwnRequestError for the session's own token and for the person it acts for."""
    token = approval.session.token
    is_own = decider.token_id == token.pk or (
        decider.user_id is not None and decider.user_id == token.acts_for_id
    )
    if is_own:
        raise OwnRequestError


def extend(approval: Approval, decider: Decider) -> Approval:
    """Move the deadline by five minutes, once.

    Raise OwnRequestError, AlreadyDecidedError or AlreadyExtendedError.
    """
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
    """Expire an overdue approval; return False when it was decided in time or is not due."""
    return _end_undecided(approval, Approval.Status.EXPIRED, "clock", expires_at__lte=timezone.now())


def expire_overdue(now: datetime | None = None) -> int:
    """Expire at most `EXPIRE_BATCH` overdue approvals, for the server's background loop; return how many."""
    overdue = Approval.objects.overdue(now or timezone.now()).order_by("expires_at")
    return sum(expire(approval) for approval in overdue[:EXPIRE_BATCH])


def cancel_pending(session: AgentSession, actor: str) -> int:
    """Cancel the pending approvals of a session that has ended; return how many.

    What a contained run changed still waits: its work is done, and its client lands it without the session.
    """
    pending = Approval.objects.pending().filter(session=session).exclude(kind=Approval.Kind.RUN)
    return sum(_end_undecided(approval, Approval.Status.CANCELLED, actor) for approval in pending)


def record_approval(approval: Approval, event: str, actor: str) -> None:
    """Append the ledger entry of a change; open pages receive it as an event."""
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
                "targets": _list_targets(approval) or approval.patterns,
                **_describe_request(approval),
                "reach": approval.get_reach_display().lower(),
                "expires_at": approval.expires_at.isoformat(),
                "decider": approval.decider,
                "grant": approval.grant_kind,
                "patterns": approval.patterns,
                "kinds": approval.kinds,
                "refused": approval.refused,
                "minutes": approval.minutes,
                "comment": to_storable(approval.comment),
            },
        )
    )


def _list_targets(approval: Approval) -> list[str]:
    """Return the paths that a call is held for; all that it names where it is held for another reason."""
    targets = [target["path"] for target in approval.call.get("targets") or ()]
    return approval.call.get("offending") or targets


def _describe_request(approval: Approval) -> dict[str, Any]:
    """Return what was requested, where no decision of the gate says so."""
    if approval.kind == Approval.Kind.CALL:  # that is in the entry of its decision, and only there
        return {}
    fields = {
        "requested": approval.call.get("patterns"),
        "message": cut_text(approval.message, MAX_RECORDED_TEXT),
    }
    return {name: to_storable(value) for name, value in fields.items() if value}


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
    approval: Approval, status: Approval.Status, decider: Decider, decision: DecisionInput, grant: GrantTerms
) -> bool:
    """Set status and decision in one UPDATE that checks the deadline; return whether it applied."""
    now = timezone.now()
    # The deadline is part of the condition: a decision that races with expiry must lose to it.
    return bool(
        Approval.objects.decidable(now)
        .filter(pk=approval.pk)
        .update(
            status=status,
            decided_at=now,
            decided_by_id=decider.user_id,
            decided_by_token_id=decider.token_id,
            decider=decider.name,
            comment=decision.comment,
            grant_kind=grant.kind,
            patterns=list(grant.patterns or grant.places),
            kinds=list(grant.kinds),
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
