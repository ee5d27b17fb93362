"""Stream the filtered history as JSON Lines or CSV, newest first, in constant memory."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from sessions.approvals.card.subjects import describe_subject
from sessions.models import Approval
from traces.browser.export import escape_formula
from traces.ledger.append import format_instant

CHUNK_SIZE = 500
COLUMNS = (
    "id", "requested_at", "decided_at", "seconds_to_decide", "kind", "tool", "object", "agent", "session_id",
    "intent_id", "outcome", "grant", "decided_by", "comment", "reach", "error_type", "reason", "decision_id",
)  # fmt: skip


def stream_history_json_lines(rows: QuerySet[Approval]) -> Iterator[bytes]:
    """Yield one approval per line."""
    for row in _iterate(rows):
        yield json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode(errors="replace") + b"\n"


def stream_history_csv(rows: QuerySet[Approval]) -> Iterator[bytes]:
    """Yield RFC 4180 with a header line, formulas defused."""
    yield _encode(COLUMNS)
    for row in _iterate(rows):
        yield _encode([escape_formula(row[name]) for name in COLUMNS])


def _iterate(rows: QuerySet[Approval]) -> Iterator[dict[str, Any]]:
    """Yield in chunks by primary key: a cursor that stays open would hold a transaction. 1 query a chunk."""
    before: int | None = None
    while True:
        page = rows.filter(pk__lt=before) if before is not None else rows
        chunk = list(page.select_related("session").order_by("-pk")[:CHUNK_SIZE])
        yield from map(_build_record, chunk)
        if len(chunk) < CHUNK_SIZE:
            return
        before = chunk[-1].pk


def _build_record(approval: Approval) -> dict[str, Any]:
    assert approval.decided_at is not None
    session = approval.session
    values = (
        approval.public_id, format_instant(approval.requested_at), format_instant(approval.decided_at),
        round((approval.decided_at - approval.requested_at).total_seconds(), 3), approval.kind, approval.tool,
        describe_subject(approval).object, session.agent_name, session.session_id, approval.intent_id,
        approval.status, approval.grant_kind, approval.decider, approval.comment,
        approval.get_reach_display().lower(), approval.error_type, approval.reason, approval.decision_id,
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def _encode(cells: Any) -> bytes:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue().encode(errors="replace")
