"""Events for open pages: the ledger's own entries, each with a sequence number, so nothing can be missed.

A client that was away sends the last number it saw and gets what came since. On PostgreSQL a lower number
may become visible after a higher one; `events_since` therefore looks back over the last seconds, and whoever
receives events drops the numbers it has seen.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone

from traces.ledger.append import format_instant, read_body
from traces.models import LedgerEntry

VISIBILITY_DELAY = timedelta(seconds=5)
MAX_EVENTS = 500

APPROVAL_EVENTS = {
    "PENDING": "approval.requested",
    "APPROVED": "approval.decided",
    "REJECTED": "approval.decided",
    "CANCELLED": "approval.decided",
    "REVOKED": "approval.decided",
    "EXPIRED": "approval.expired",
}
KINDS = {
    "decision": "decision.made",
    "session": "session.changed",
    "trace": "trace.recorded",
    "intent": "intent.changed",
    "policy": "policy.changed",
    "lesson": "lesson.recorded",
    "redaction": "redaction.recorded",
    "import": "import.recorded",
    "reconciliation": "reconciliation.recorded",
}
QUEUE = "queue"  # the view of the approvals page
PAGE_FIELDS = ("approval_id", "event", "reach", "tool", "agent")  # what scripts of pages read
RECEIPT_SUBJECTS = frozenset({"decision", "session", "trace"})  # what receipts on that page follow
STOP = "stop"  # what the banner of every page listens to
STOP_OUTCOMES = frozenset({"stopped", "started"})
ALL_EVENTS = "entries"  # the view of a page that counts every entry


@dataclass(frozen=True, slots=True)
class RowChange:
    """What an event changes in a page: `html` in place of the element with this id, or without it in a list.

    `order` places a new row among those of the list, lowest first, or highest where the list says so. A row
    without `list` changes only where it is shown already.
    """

    id: str
    html: str
    list: str = ""
    order: int = 0


@dataclass(frozen=True, slots=True)
class QueueChange:
    """What an approval event changes: the count on every page, and the rows of the queue where it is shown.

    `own` are the rows for the person with the id `user_id`.
    """

    pending: int
    rows: dict[str, Any] = field(default_factory=dict)
    user_id: int | None = None
    own: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LiveEvent:
    seq: int
    type: str
    at: str
    data: dict[str, Any]
    queue: QueueChange | None = None
    changes: Mapping[str, Sequence[RowChange]] = field(default_factory=dict)  # by view
    drawn: frozenset[str] | None = (
        None  # the views that `changes` knows; pages with others fetch what they show
    )
    _texts: dict[tuple[frozenset[str] | None, bool], str] = field(
        default_factory=dict, repr=False, compare=False
    )

    @property
    def subject(self) -> str:
        return self.type.partition(".")[0]

    def to_text(self, views: frozenset[str] | None, user_id: int | None) -> str:
        """Return the message for one socket as JSON, "" where a page with these views needs none.

        It is encoded once for all sockets that get the same. `None` for views: a client that is no page gets
        every event.
        """
        is_own = self.queue is not None and user_id is not None and self.queue.user_id == user_id
        text = self._texts.get((views, is_own))
        if text is None:
            message = self._build_message(views, is_own=is_own)
            text = json.dumps(message, ensure_ascii=False, separators=(",", ":")) if message else ""
            self._texts[(views, is_own)] = text
        return text

    def _build_message(self, views: frozenset[str] | None, *, is_own: bool) -> dict[str, Any]:
        message: dict[str, Any] = {"seq": self.seq, "type": self.type, "at": self.at, "data": self.data}
        shown = views or frozenset()
        if views is not None:
            message = {"seq": self.seq, "type": self.type, "data": self._select_fields(shown)}
        changes = [asdict(change) for view in sorted(shown) for change in self.changes.get(view, ())]
        if self.queue is not None:
            message["pending"] = self.queue.pending
            if QUEUE in shown:
                message["queue"] = self.queue.own if is_own else self.queue.rows
        if changes:
            message["changes"] = changes
        if views is not None and (self.drawn is None or views - self.drawn):
            return message | {"drawn": False}
        is_needed = views is None or changes or message["data"] or ALL_EVENTS in shown
        return message if is_needed else {}

    def _select_fields(self, views: frozenset[str]) -> dict[str, Any]:
        """Return what scripts of a page with these views read."""
        if STOP in self.data:
            return {STOP: True}
        if self.subject == "approval":
            return {name: self.data[name] for name in PAGE_FIELDS if name in self.data}
        if QUEUE in views and self.subject in RECEIPT_SUBJECTS:
            return {"session_id": self.data["session_id"]}
        return {}


def find_newest_seq(workspace_id: int) -> int:
    """Return the newest number, 0 for none (1 query)."""
    return LedgerEntry.objects.for_workspace(workspace_id).highest_row_id()


def list_events_since(workspace_id: int, seq: int, *, include_recent: bool = False) -> list[LiveEvent]:
    """Return at most `MAX_EVENTS` events after `seq`, oldest first (1 query)."""
    entries = LedgerEntry.objects.for_workspace(workspace_id)
    if include_recent:
        is_recent = Q(received_at__gt=timezone.now() - VISIBILITY_DELAY)
        # The lower bound stands apart, so that the index of a large ledger is entered there.
        entries = entries.above(seq - MAX_EVENTS).filter(Q(pk__gt=seq) | is_recent)
    else:
        entries = entries.above(seq)
    return list(_events(entries.with_body().oldest_first()[:MAX_EVENTS]))


def _events(entries: Iterable[LedgerEntry]) -> Iterable[LiveEvent]:
    for entry in entries:
        kind = APPROVAL_EVENTS.get(entry.outcome, "") if entry.kind == "approval" else KINDS[entry.kind]
        if kind:
            yield LiveEvent(entry.pk, kind, format_instant(entry.received_at), _data(entry))


def _data(entry: LedgerEntry) -> dict[str, Any]:
    """Return ids and words that say what to fetch, never the input of a call."""
    data: dict[str, Any] = {
        "id": entry.entry_id,
        "session_id": entry.session_id,
        "intent_id": entry.intent_id or None,
        "outcome": entry.outcome,
        "agent": entry.agent,
    }
    if entry.kind == "policy" and entry.outcome in STOP_OUTCOMES:
        data[STOP] = True
    if entry.kind in {"decision", "approval"}:
        data |= {"tool": entry.tool, "error_type": entry.error_type or None, "reason": entry.reason or None}
    if entry.kind == "approval":
        body = read_body(entry) or {}
        data |= {
            name: body.get(name)
            for name in ("approval_id", "status", "event", "decider", "reach", "expires_at")
        }
    return data
