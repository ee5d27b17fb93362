"""The queue: what waits, widest reach first and then longest wait, and what was decided just now.

Identical asks are one row by construction: they join one approval.
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
from sessions.approvals.card.receipts import outcome_line
from sessions.approvals.card.subjects import subject_of
from sessions.approvals.card.why import summary
from sessions.models import Approval

MAX_ROWS = 300
MAX_DECIDED = 50
JUST_NOW = timedelta(minutes=10)
ENDING = timedelta(seconds=90)


@dataclass(frozen=True, slots=True)
class Agent:
    name: str


@dataclass(frozen=True, slots=True)
class Item:
    id: str
    kind: str
    object: str
    object_is: str
    summary: str
    agent: Agent
    intent_id: str
    opened_at: datetime
    expires_at: datetime
    state: str
    decided_at: datetime | None


@dataclass(frozen=True, slots=True)
class Group:
    level: str  # wide | medium | narrow
    approvals: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Strip:
    pending: int
    oldest: datetime | None
    next_expiry: datetime | None  # only when it is near
    last_decision: datetime | None


@dataclass(frozen=True, slots=True)
class Queue:
    groups: tuple[Group, ...]
    decided: tuple[Item, ...]
    strip: Strip

    @property
    def order(self) -> list[str]:
        """Ids of what waits, from the top."""
        return [item.id for group in self.groups for item in group.approvals]


def waiting(workspace: Workspace) -> QuerySet[Approval]:
    """Pending approvals whose time is not over, in the order of the queue."""
    rows = Approval.objects.for_workspace(workspace.pk).decidable(timezone.now())
    return rows.order_by("-reach", "requested_at", "pk")


def queue_of(workspace: Workspace, user: Any) -> Queue:
    """3 queries, however long it is."""
    rows = list(waiting(workspace).select_related("session")[:MAX_ROWS])
    return Queue(
        groups=tuple(
            Group(level, tuple(_item(row, user) for row in group))
            for level, group in groupby(rows, lambda row: str(row.get_reach_display()).lower())
        ),
        decided=tuple(_item(row, user) for row in _decided(workspace)),
        strip=_strip(workspace),
    )


def next_waiting(workspace: Workspace, after: Approval) -> str | None:
    """The id of what follows a card in the queue, or of the first one behind its end. 1 query."""
    rows = (
        waiting(workspace).exclude(pk=after.pk).values_list("public_id", "reach", "requested_at")[:MAX_ROWS]
    )
    return following(rows, after)


def following(rows: Iterable[tuple[str, int, datetime]], after: Approval) -> str | None:
    place = (-after.reach, after.requested_at)
    ids = [(public_id, (-reach, requested_at) >= place) for public_id, reach, requested_at in rows]
    later = [public_id for public_id, is_later in ids if is_later]
    return next(iter([*later, *(public_id for public_id, _ in ids)]), None)


def _decided(workspace: Workspace) -> Iterable[Approval]:
    ended = Approval.objects.for_workspace(workspace.pk).ended()
    rows = ended.filter(decided_at__gt=timezone.now() - JUST_NOW)
    return rows.select_related("session").order_by("-decided_at")[:MAX_DECIDED]


def _strip(workspace: Workspace) -> Strip:
    now = timezone.now()
    pending = Q(status=Approval.Status.PENDING, expires_at__gt=now)
    facts = Approval.objects.for_workspace(workspace.pk).aggregate(
        pending=Count("pk", filter=pending),
        oldest=Min("requested_at", filter=pending),
        expiry=Min("expires_at", filter=pending),
        last=Max("decided_at"),
    )
    near = facts["expiry"] if facts["expiry"] and facts["expiry"] - now < ENDING else None
    return Strip(facts["pending"], facts["oldest"], near, facts["last"])


def _item(approval: Approval, user: Any) -> Item:
    subject = subject_of(approval)
    pending = approval.status == Approval.Status.PENDING
    return Item(
        id=approval.public_id,
        kind=subject.kind,
        object=subject.object,
        object_is=subject.object_is,
        summary=summary(approval) if pending else outcome_line(approval, user),
        agent=Agent(agent_title(approval.session.agent_name)),
        intent_id=approval.intent_id,
        opened_at=approval.requested_at,
        expires_at=approval.expires_at,
        state=approval.status.lower(),
        decided_at=approval.decided_at,
    )
