"""The filters of the history: what the address says, as conditions on approvals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.db.models import DurationField, ExpressionWrapper, F, QuerySet

from sessions.approvals.queue import MAX_TERMS
from sessions.models import Approval

MAX_LENGTH = 200
NOBODY = "nobody"  # who decided what timed out or was cancelled
RANGES: Mapping[str, timedelta | None] = {
    "24h": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
    "all": None,
}
DEFAULT_RANGE = "30d"
# Time to decide, from the request on: at least, less than
DELAYS: Mapping[str, tuple[timedelta, timedelta | None]] = {
    "under-10s": (timedelta(0), timedelta(seconds=10)),
    "10s-1min": (timedelta(seconds=10), timedelta(minutes=1)),
    "1-5min": (timedelta(minutes=1), timedelta(minutes=5)),
    "over-5min": (timedelta(minutes=5), None),
}
OUTCOMES = tuple(status.value for status in Approval.Status if status != Approval.Status.PENDING)
KINDS = tuple(Approval.Kind.values)
COLUMNS = {
    "outcome": "status", "kind": "kind", "by": "decider", "agent": "session__agent_name",
    "intent": "intent_id", "session": "session__session_id",
}  # fmt: skip
NAMES = (*COLUMNS, "took")
DELAY = ExpressionWrapper(F("decided_at") - F("requested_at"), output_field=DurationField())


@dataclass(frozen=True, slots=True)
class HistoryFilters:
    """A search text, a time range, and one value for each of `NAMES` at most."""

    text: str = ""
    range: str = DEFAULT_RANGE
    values: Mapping[str, str] = field(default_factory=dict)
    errors: tuple[str, ...] = ()

    def to_query(self, **changes: str) -> str:
        """Return the address's query with some values changed; "" takes one out."""
        shown_range = "" if self.range == DEFAULT_RANGE else self.range
        values = {"q": self.text, "range": shown_range, **self.values, **changes}
        return f"?{urlencode({name: value for name, value in values.items() if value})}"

    def apply(self, workspace_id: int, now: datetime, *, leave_out: str = "") -> QuerySet[Approval]:
        """Return the ended approvals that pass, all but the filter `leave_out`."""
        rows: QuerySet[Approval] = Approval.objects.for_workspace(workspace_id).ended()
        length = RANGES[self.range]
        if length is not None:
            rows = rows.filter(decided_at__gt=now - length)
        for term in self.text.casefold().split()[:MAX_TERMS]:
            rows = rows.filter(search_text__contains=term) | rows.filter(public_id=term)
        for name, value in self.values.items():
            if name != leave_out:
                rows = _apply_value(rows, name, value)
        return rows


def parse_history_filters(query: Mapping[str, str]) -> HistoryFilters:
    """Parse the address; what it says wrongly is left out and named in `errors`."""
    values, errors = {}, []
    allowed: Mapping[str, tuple[str, ...]] = {"outcome": OUTCOMES, "kind": KINDS, "took": tuple(DELAYS)}
    for name in NAMES:
        value = _clean(query.get(name, ""))
        if value and name in allowed and value not in allowed[name]:
            errors.append(f"{name}: one of {', '.join(allowed[name])}.")
        elif value:
            values[name] = value
    chosen = _clean(query.get("range", "")) or DEFAULT_RANGE
    if chosen not in RANGES:
        errors.append(f"range: one of {', '.join(RANGES)}.")
        chosen = DEFAULT_RANGE
    return HistoryFilters(_clean(query.get("q", "")), chosen, values, tuple(errors))


def _apply_value(rows: QuerySet[Approval], name: str, value: str) -> QuerySet[Approval]:
    if name == "took":
        least, below = DELAYS[value]
        slow = rows.annotate(delay=DELAY).filter(delay__gte=least)
        return slow.filter(delay__lt=below) if below is not None else slow
    if name == "by" and value == NOBODY:
        return rows.filter(decider="")
    return rows.filter(**{COLUMNS[name]: value})


def _clean(text: str) -> str:
    return text.replace("\0", "").strip()[:MAX_LENGTH]
