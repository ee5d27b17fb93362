"""Load a page of the history, with the values to filter it by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Case, Count, QuerySet, Value, When
from django.utils.translation import gettext_lazy as _

from controlplane.templatetags.names import agent_title
from controlplane.templatetags.times import format_duration
from sessions.approvals.card.receipts import describe_outcome
from sessions.approvals.card.subjects import describe_subject
from sessions.approvals.history.filters import COLUMNS, DELAY, DELAYS, NOBODY, HistoryFilters
from sessions.models import Approval, ApprovalGrant

PAGE_ROWS = 50
MAX_VALUES = 12  # of a facet
FACETS = (
    ("outcome", _("Outcome")), ("by", _("Decided by")), ("kind", _("Kind")), ("took", _("Time to decide")),
    ("agent", _("Agent")), ("intent", _("Intent")),
)  # fmt: skip
DELAY_LABELS = {
    "under-10s": _("under 10 s"), "10s-1min": _("10 s to 1 min"), "1-5min": _("1 to 5 min"),
    "over-5min": _("over 5 min"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One ended approval; `_row.html` describes each field."""

    id: str
    kind: str
    object: str
    object_is: str
    agent: str
    intent_id: str
    state: str
    outcome: str
    decided_at: datetime
    took: str
    result: str


@dataclass(frozen=True, slots=True)
class HistoryPage:
    rows: tuple[HistoryRow, ...]
    total: int
    older: int | None = None  # the cursor of the next page


def load_history_page(matching: QuerySet[Approval], user: Any, *, before: int | None = None) -> HistoryPage:
    """Load a page, newest request first, in 3 queries."""
    rows = matching.filter(pk__lt=before) if before is not None else matching
    approvals = list(rows.select_related("session").order_by("-pk")[: PAGE_ROWS + 1])
    shown = approvals[:PAGE_ROWS]
    used = _list_used(shown)
    return HistoryPage(
        rows=tuple(_build_row(approval, user, is_used=approval.pk in used) for approval in shown),
        total=matching.count(),
        older=shown[-1].pk if len(approvals) > PAGE_ROWS else None,
    )


def build_history_facets(
    filters: HistoryFilters, workspace_id: int, now: datetime, *, own_name: str | None
) -> list[dict[str, Any]]:
    """Return the values of each facet with their counts, under all other filters. 1 query each.

    `own_name`: of who decided, only this person's number is counted.
    """
    facets = []
    for name, title in FACETS:
        rows = filters.apply(workspace_id, now, leave_out=name)
        counts = _count_values(name, rows)
        if name == "by" and own_name is not None:
            counts = {value: number for value, number in counts.items() if value == own_name}
        largest = max(counts.values(), default=1)
        shown = sorted(counts.items(), key=lambda pair: -pair[1])[:MAX_VALUES]
        items = [_build_item(filters, name, value, number, largest) for value, number in shown]
        facets.append({"title": title, "items": items})
    return facets


def describe_value(name: str, value: str) -> str:
    """Return the title of a filter's value."""
    if name == "outcome":
        return str(Approval.Status(value).label)
    if name == "kind":
        return str(Approval.Kind(value).label)
    if name == "took":
        return str(DELAY_LABELS[value])
    return agent_title(value) if name == "agent" else value


def _count_values(name: str, rows: QuerySet[Approval]) -> dict[str, int]:
    if name == "took":
        steps = reversed(tuple(DELAYS.items()))
        cases = [When(delay__gte=least, then=Value(key)) for key, (least, _below) in steps]
        timed = rows.annotate(delay=DELAY).annotate(value=Case(*cases, default=Value("under-10s")))
        return dict(timed.order_by().values_list("value").annotate(number=Count("pk")))
    counts = dict(rows.order_by().values_list(COLUMNS[name]).annotate(number=Count("pk")))
    if name == "by" and "" in counts:
        counts[NOBODY] = counts.pop("")
    counts.pop("", None)
    return counts


def _build_item(filters: HistoryFilters, name: str, value: str, number: int, largest: int) -> dict[str, Any]:
    is_current = filters.values.get(name) == value
    return {
        "label": describe_value(name, value),
        "number": number,
        "share": max(1, round(100 * number / largest)),
        "current": is_current,
        "url": filters.to_query(**{name: "" if is_current else value}),
    }


def _list_used(approvals: Sequence[Approval]) -> set[int]:
    """Return the approvals, by primary key, whose grant a call has used. 1 query."""
    used = ApprovalGrant.objects.filter(approval__in=approvals, used_at__isnull=False)
    return set(used.values_list("approval_id", flat=True))


def _build_row(approval: Approval, user: Any, *, is_used: bool) -> HistoryRow:
    assert approval.decided_at is not None
    subject = describe_subject(approval)
    return HistoryRow(
        id=approval.public_id,
        kind=subject.kind,
        object=subject.object,
        object_is=subject.object_is,
        agent=approval.session.agent_name,
        intent_id=approval.intent_id,
        state=approval.status.lower(),
        outcome=describe_outcome(approval, user),
        decided_at=approval.decided_at,
        took=format_duration(round(1000 * (approval.decided_at - approval.requested_at).total_seconds())),
        result=_describe_result(approval, is_used=is_used),
    )


def _describe_result(approval: Approval, *, is_used: bool) -> str:
    if approval.status != Approval.Status.APPROVED:
        return str(_("Did not run"))
    if is_used:
        return str(_("Retried and allowed"))
    return str(_("Not used yet")) if approval.grant_kind == ApprovalGrant.Kind.ONCE else ""


def list_tokens(filters: HistoryFilters) -> Iterable[Mapping[str, Any]]:
    """Yield the filters that are set, each with the address without it."""
    for name, value in filters.values.items():
        without = filters.to_query(**{name: ""})
        yield {"name": name, "value": describe_value(name, value), "remove_url": without}
