"""Remember who has opened which card: what cannot be undone is decided only after a look."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.utils import timezone

from sessions.approvals.decision_input import Decider
from sessions.models import Approval, ApprovalOpening


def is_irreversible(approval: Approval) -> bool:
    """Return whether an approval lets through what cannot be undone or cannot be foreseen."""
    if approval.kind == Approval.Kind.COMPLETION or approval.reach == Approval.Reach.WIDE:
        return True
    targets = approval.call.get("targets") or []
    return bool(approval.call.get("unknown")) or any(target["op"] == "delete" for target in targets)


def record_opening(approvals: Iterable[Approval], decider: Decider) -> None:
    """Note that the decider looks at these pending approvals; the first look counts (1 query)."""
    now = timezone.now()
    rows = [
        ApprovalOpening(approval=approval, opener=opener, opened_at=now)
        for approval in approvals
        if approval.status == Approval.Status.PENDING
        for opener in _list_openers(decider)
    ]
    if rows:
        ApprovalOpening.objects.bulk_create(rows, ignore_conflicts=True)


def list_opened(approval_ids: Collection[int], decider: Decider) -> set[int]:
    """Return which of these approvals, by primary key, the decider has opened (1 query)."""
    rows = ApprovalOpening.objects.filter(approval_id__in=approval_ids, opener__in=_list_openers(decider))
    return set(rows.values_list("approval_id", flat=True))


def _list_openers(decider: Decider) -> list[str]:
    """Return the names under which a look is kept: of the person, and of the token that speaks for them."""
    return [
        f"{kind}:{key}"
        for kind, key in (("user", decider.user_id), ("token", decider.token_id))
        if key is not None
    ]
