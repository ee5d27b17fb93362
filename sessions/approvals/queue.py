"""Build the queue: pending approvals by reach and age, and recent decisions.

Identical requests are one row by construction: they join one approval.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from django.db.models import Count, Max, Min, Q, QuerySet
from django.utils import timezone

from controlplane.models import Workspace
from sessions.agent_titles import agent_title
from sessions.approvals.card.receipts import describe_outcome
from sessions.approvals.card.stop_reason import summarize
from sessions.approvals.card.subjects import describe_subject
from sessions.models import Approval

MAX_ROWS = 300
MAX_DECIDED = 50
RECENT = timedelta(minutes=10)
NEAR_EXPIRY = timedelta(seconds=90)


@dataclass(frozen=True, slots=True)
class AgentLabel:
    name: str


@dataclass(frozen=True, slots=True)
class QueueItem:
    id: str
    kind: str
    object: str
    object_is: str
    summary: str
    agent: AgentLabel
    intent_id: str
    opened_at: datetime
    expires_at: datetime
    state: str
    decided_at: datetime | None


@dataclass(frozen=True, slots=True)
class QueueGroup:
    level: str  # wide | medium | narrow
    approvals: tuple[QueueItem, ...]


@dataclass(frozen=True, slots=True)
class QueueTotals:
    pending: int
    oldest: datetime | None
    next_expiry: datetime | None  # only when it is near
    last_decision: datetime | None


@dataclass(frozen=True, slots=True)
class Queue:
    groups: tuple[QueueGroup, ...]
    decided: tuple[QueueItem, ...]
    strip: QueueTotals

    @property
    def ids(self) -> list[str]:
        """Ids of the pending approvals, from the top."""
        return [item.id for group in self.groups for item in group.approvals]


def list_decidable(workspace: Workspace) -> QuerySet[Approval]:
    """Return the approvals that can still be decided, in the order of the queue."""
    rows = Approval.objects.for_workspace(workspace.pk).decidable(timezone.now())
    return rows.order_by("-reach", "requested_at", "pk")


def load_queue(workspace: Workspace, user: Any) -> Queue:
    """Load the queue in 3 queries, however long it is."""
    approvals = list(list_decidable(workspace).select_related("session")[:MAX_ROWS])
    return Queue(
        groups=tuple(
            QueueGroup(level, tuple(_build_item(row, user) for row in group))
            for level, group in groupby(approvals, lambda row: str(row.get_reach_display()).lower())
        ),
        decided=tuple(_build_item(row, user) for row in _list_recent_decisions(workspace)),
        strip=_count_totals(workspace),
    )


def find_next_id(workspace: Workspace, after: Approval) -> str | None:
    """Return the id that follows a card in the queue, or the first one after its end. 1 query."""
    rows = (
        list_decidable(workspace)
        .exclude(pk=after.pk)
        .values_list("public_id", "reach", "requested_at")[:MAX_ROWS]
    )
    return pick_next_id(rows, after)


def pick_next_id(rows: Iterable[tuple[str, int, datetime]], after: Approval) -> str | None:
    position = (-after.reach, after.requested_at)
    ids = [(public_id, (-reach, requested_at) >= position) for public_id, reach, requested_at in rows]
    later = [public_id for public_id, is_later in ids if is_later]
    return next(iter([*later, *(public_id for public_id, _ in ids)]), None)


def _list_recent_decisions(workspace: Workspace) -> Iterable[Approval]:
    ended = Approval.objects.for_workspace(workspace.pk).ended()
    rows = ended.filter(decided_at__gt=timezone.now() - RECENT)
    return rows.select_related("session").order_by("-decided_at")[:MAX_DECIDED]


def _count_totals(workspace: Workspace) -> QueueTotals:
    now = timezone.now()
    pending = Q(status=Approval.Status.PENDING, expires_at__gt=now)
    totals = Approval.objects.for_workspace(workspace.pk).aggregate(
        pending=Count("pk", filter=pending),
        oldest=Min("requested_at", filter=pending),
        expiry=Min("expires_at", filter=pending),
        last=Max("decided_at"),
    )
    next_expiry = totals["expiry"] if totals["expiry"] and totals["expiry"] - now < NEAR_EXPIRY else None
    return QueueTotals(totals["pending"], totals["oldest"], next_expiry, totals["last"])


def _build_item(approval: Approval, user: Any) -> QueueItem:
    subject = describe_subject(approval)
    pending = approval.status == Approval.Status.PENDING
    return QueueItem(
        id=approval.public_id,
        kind=subject.kind,
        object=subject.object,
        object_is=subject.object_is,
        summary=summarize(approval) if pending else describe_outcome(approval, user),
        agent=AgentLabel(agent_title(approval.session.agent_name)),
        intent_id=approval.intent_id,
        opened_at=approval.requested_at,
        expires_at=approval.expires_at,
        state=approval.status.lower(),
        decided_at=approval.decided_at,
    )
