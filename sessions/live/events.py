"""Events for open pages: the ledger's own entries, each with a sequence number, so nothing can be missed.

A client that was away sends the last number it saw and gets what came since. On PostgreSQL a lower number
may become visible after a higher one; `events_since` therefore looks back over the last seconds, and whoever
receives events drops the numbers it has seen.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db.models import Max, Q
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
KINDS = {"decision": "decision.made", "session": "session.changed", "trace": "trace.recorded"}


@dataclass(frozen=True, slots=True)
class EventFragment:
    """What the queue's page shows of an approval event; `own` is for the person with the id `user_id`."""

    pending: int
    queue: dict[str, Any]
    user_id: int | None = None
    own: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LiveEvent:
    seq: int
    type: str
    at: str
    data: dict[str, Any]
    fragment: EventFragment | None = None
    _texts: dict[tuple[bool, bool], str] = field(default_factory=dict, repr=False, compare=False)

    def to_message(self) -> dict[str, Any]:
        return {"seq": self.seq, "type": self.type, "at": self.at, "data": self.data}

    def to_text(self, *, with_rows: bool, user_id: int | None) -> str:
        """Return the message for one socket as JSON, encoded once for all sockets that get the same."""
        is_own = self.fragment is not None and user_id is not None and self.fragment.user_id == user_id
        text = self._texts.get((with_rows, is_own))
        if text is None:
            message = self.to_message()
            if self.fragment is not None:
                message["pending"] = self.fragment.pending
                if with_rows:
                    message["queue"] = self.fragment.own if is_own else self.fragment.queue
            text = self._texts[(with_rows, is_own)] = json.dumps(message, ensure_ascii=False)
        return text


def find_newest_seq(workspace_id: int) -> int:
    """Return the newest number. It filters by kind so that an index serves it on a large ledger (1 query)."""
    entries = LedgerEntry.objects.filter(workspace_id=workspace_id, kind__in=["approval", *KINDS])
    return entries.aggregate(newest=Max("pk"))["newest"] or 0


def list_events_since(workspace_id: int, seq: int, *, include_recent: bool = False) -> list[LiveEvent]:
    """Return at most `MAX_EVENTS` events after `seq`, oldest first (1 query)."""
    is_new = Q(pk__gt=seq)
    if include_recent:
        is_new |= Q(pk__gt=seq - MAX_EVENTS, received_at__gt=timezone.now() - VISIBILITY_DELAY)
    entries = (
        LedgerEntry.objects.filter(is_new, workspace_id=workspace_id, kind__in=["approval", *KINDS])
        .select_related("body")
        .order_by("pk")
    )
    return list(_events(entries[:MAX_EVENTS]))


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
    if entry.kind in {"decision", "approval"}:
        data |= {"tool": entry.tool, "error_type": entry.error_type or None, "reason": entry.reason or None}
    if entry.kind == "approval":
        body = read_body(entry) or {}
        data |= {
            name: body.get(name)
            for name in ("approval_id", "status", "event", "decider", "reach", "expires_at")
        }
    return data
