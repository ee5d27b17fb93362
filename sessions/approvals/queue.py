"""Build the queue: pending approvals by reach, danger and age, alike calls as one row, and recent decisions.

Identical requests are one row by construction: they join one approval.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.db.models import Max, QuerySet
from django.utils import timezone

from controlplane.models import Workspace
from controlplane.templatetags.names import agent_title
from sessions.approvals.card.receipts import describe_outcome
from sessions.approvals.card.stop_reason import summarize
from sessions.approvals.card.subjects import describe_subject, find_agent_reason
from sessions.approvals.triage.dangers import Danger, find_dangers
from sessions.approvals.triage.shapes import describe_shape
from sessions.models import Approval

MAX_ROWS = 5_000  # pending approvals that are sorted
PAGE_ROWS = 15  # rows drawn at once; the others are fetched when they are reached
MAX_DECIDED = 10
MAX_TERMS = 8
RECENT = timedelta(minutes=10)
NEAR_EXPIRY = timedelta(seconds=90)
ROW_COLUMNS = (
    "pk", "public_id", "shape", "reach", "danger", "requested_at", "expires_at", "intent_id",
    "session__agent_name",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AgentLabel:
    name: str


@dataclass(frozen=True, slots=True)
class QueueItem:
    """One row; `_queue_card.html` describes each field."""

    id: str
    key: str
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
    level: str = ""
    danger: int = 0
    dangers: tuple[Danger, ...] = ()
    agent_reason: str = ""
    alike: int = 1
    shape: str = ""


@dataclass(frozen=True, slots=True)
class QueueGroup:
    level: str  # wide | medium | narrow
    approvals: tuple[QueueItem, ...]
    calls: int = 0
    rows: int = 0  # of this reach, those that are not drawn yet included


@dataclass(frozen=True, slots=True)
class QueueTotals:
    pending: int
    oldest: datetime | None
    next_expiry: datetime | None  # only when it is near
    last_decision: datetime | None
    rows: int = 0


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """What of the queue is shown: words that must all occur, one agent, one intent."""

    text: str = ""
    agent: str = ""
    intent: str = ""

    @property
    def query(self) -> str:
        """The filter as a query string, "" without one."""
        values = {"q": self.text, "agent": self.agent, "intent": self.intent}
        return urlencode({name: value for name, value in values.items() if value})

    def apply(self, rows: QuerySet[Approval]) -> QuerySet[Approval]:
        for term in self.text.casefold().split()[:MAX_TERMS]:
            rows = rows.filter(search_text__contains=term)
        if self.agent:
            rows = rows.filter(session__agent_name=self.agent)
        return rows.filter(intent_id=self.intent) if self.intent else rows


NO_FILTER = QueueFilter()


@dataclass(frozen=True, slots=True)
class QueueChoices:
    """What the filter offers: agents with their titles, and intents, of all that waits."""

    agents: tuple[tuple[str, str], ...] = ()
    intents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Queue:
    groups: tuple[QueueGroup, ...]
    decided: tuple[QueueItem, ...]
    strip: QueueTotals
    ids: list[str] = field(default_factory=list)  # of the first approval of each row, from the top
    more: int = 0  # rows that are not drawn yet
    filter: QueueFilter = NO_FILTER
    choices: QueueChoices = QueueChoices()
    shown: int = 0  # calls that pass the filter


class QueueRow(NamedTuple):
    """One row of the queue before it is drawn: its first approval, and how many calls it stands for."""

    pk: int
    public_id: str
    reach: int
    calls: int


def list_decidable(workspace: Workspace) -> QuerySet[Approval]:
    """Return the approvals that can still be decided, in the order of the queue."""
    rows = Approval.objects.for_workspace(workspace.pk).decidable(timezone.now())
    return rows.order_by("-reach", "-danger", "requested_at", "pk")


def load_queue(
    workspace: Workspace, user: Any, filters: QueueFilter = NO_FILTER, *, offset: int = 0
) -> Queue:
    """Load a page of the queue in 3 queries, however long it is; one more with a filter."""
    light = _list_light_rows(list_decidable(workspace))
    passing = _list_light_rows(filters.apply(list_decidable(workspace))) if filters.query else light
    rows = _fold_alike(passing)
    page = rows[offset : offset + PAGE_ROWS]
    return Queue(
        groups=tuple(_build_groups(rows, page)),
        decided=() if offset else tuple(build_item(row, user) for row in _list_recent_decisions(workspace)),
        strip=_count_totals(workspace, light, len(_fold_alike(light))),
        ids=[row.public_id for row in rows],
        more=max(0, len(rows) - offset - PAGE_ROWS),
        filter=filters,
        choices=_list_choices(light),
        shown=len(passing),
    )


def load_totals(workspace: Workspace) -> QueueTotals:
    """Load the strip alone (1 query, 2 when nothing waits)."""
    light = _list_light_rows(list_decidable(workspace))
    return _count_totals(workspace, light, len(_fold_alike(light)))


def load_item(approval: Approval, user: Any = None) -> QueueItem | None:
    """Build the row that shows a pending approval, with the calls alike it; None once none is pending.

    At most 1 query, for an approval fetched with its session.
    """
    if not approval.shape:
        return build_item(approval, user) if approval.status == Approval.Status.PENDING else None
    alike = list_alike(approval.workspace, approval.shape)
    return build_item(alike[0], user, alike=len(alike)) if alike else None


def list_alike(workspace: Workspace, shape: str) -> list[Approval]:
    """Return the pending approvals of a shape, oldest first (1 query)."""
    rows = list_decidable(workspace).filter(shape=shape) if shape else Approval.objects.none()
    return list(rows.select_related("workspace", "session__token", "session__workspace")[:MAX_ROWS])


def find_next_id(workspace: Workspace, after: Approval, *, skip_alike: bool = False) -> str | None:
    """Return the id that follows a card in the queue, or the first one after its end. 1 query."""
    rows = list_decidable(workspace).exclude(pk=after.pk)
    if after.shape and skip_alike:
        rows = rows.exclude(shape=after.shape)
    return pick_next_id(rows.values_list("public_id", "reach", "danger", "requested_at")[:MAX_ROWS], after)


def pick_next_id(rows: Iterable[tuple[str, int, int, datetime]], after: Approval) -> str | None:
    position = (-after.reach, -after.danger, after.requested_at)
    ids = [
        (public_id, (-reach, -danger, requested_at) >= position)
        for public_id, reach, danger, requested_at in rows
    ]
    later = [public_id for public_id, is_later in ids if is_later]
    return next(iter([*later, *(public_id for public_id, _ in ids)]), None)


def _list_light_rows(rows: QuerySet[Approval]) -> list[dict[str, Any]]:
    """Read what sorting and counting need; the calls themselves may be large."""
    return list(rows.values(*ROW_COLUMNS)[:MAX_ROWS])


def _fold_alike(light: Iterable[Mapping[str, Any]]) -> list[QueueRow]:
    """Return one row for all calls of a shape, at the place of the first of them."""
    folded: dict[str, QueueRow] = {}
    for row in light:
        key = row["shape"] or row["public_id"]
        first = folded.get(key)
        folded[key] = (
            first._replace(calls=first.calls + 1)
            if first
            else QueueRow(row["pk"], row["public_id"], row["reach"], 1)
        )
    return list(folded.values())


def _build_groups(rows: Sequence[QueueRow], page: Sequence[QueueRow]) -> Iterable[QueueGroup]:
    approvals = Approval.objects.select_related("session").in_bulk([row.pk for row in page]) if page else {}
    for reach, members in groupby(page, lambda row: row.reach):
        items = tuple(build_item(approvals[row.pk], None, alike=row.calls) for row in members)
        alike = [row for row in rows if row.reach == reach]
        yield QueueGroup(get_level(reach), items, sum(row.calls for row in alike), len(alike))


def get_level(reach: int) -> str:
    return str(Approval.Reach(reach).label).lower()


def _list_choices(light: Iterable[Mapping[str, Any]]) -> QueueChoices:
    names = {row["session__agent_name"] for row in light}
    return QueueChoices(
        tuple(sorted(((name, agent_title(name)) for name in names if name), key=lambda pair: pair[1])),
        tuple(sorted({row["intent_id"] for row in light if row["intent_id"]})),
    )


def _list_recent_decisions(workspace: Workspace) -> Iterable[Approval]:
    ended = Approval.objects.for_workspace(workspace.pk).ended()
    rows = ended.filter(decided_at__gt=timezone.now() - RECENT)
    return rows.select_related("session").order_by("-decided_at")[:MAX_DECIDED]


def _count_totals(workspace: Workspace, light: Sequence[Mapping[str, Any]], rows: int) -> QueueTotals:
    if not light:
        ended = Approval.objects.for_workspace(workspace.pk).ended()
        return QueueTotals(0, None, None, ended.aggregate(last=Max("decided_at"))["last"])
    expiry = min(row["expires_at"] for row in light)
    next_expiry = expiry if expiry - timezone.now() < NEAR_EXPIRY else None
    return QueueTotals(len(light), min(row["requested_at"] for row in light), next_expiry, None, rows)


def build_item(approval: Approval, user: Any, *, alike: int = 1) -> QueueItem:
    """Build one row. 0 queries for an approval fetched with its session."""
    subject = describe_subject(approval)
    pending = approval.status == Approval.Status.PENDING
    return QueueItem(
        id=approval.public_id,
        key=(approval.shape if pending else "") or approval.public_id,
        kind=subject.kind,
        object=describe_shape(approval, subject) if alike > 1 else subject.object,
        object_is=subject.object_is,
        summary=summarize(approval) if pending else describe_outcome(approval, user),
        agent=AgentLabel(agent_title(approval.session.agent_name)),
        intent_id=approval.intent_id,
        opened_at=approval.requested_at,
        expires_at=approval.expires_at,
        state=approval.status.lower(),
        decided_at=approval.decided_at,
        level=get_level(approval.reach),
        danger=approval.danger,
        dangers=tuple(find_dangers(approval.call)) if pending else (),
        agent_reason=find_agent_reason(approval) if pending else "",
        alike=alike,
        shape=approval.shape if alike > 1 else "",
    )
