"""Render sessions for the REST API and for MCP."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

from django.db.models import Count

from sessions.models import AgentSession, Approval
from traces.models import LedgerEntry


def format_time(value: datetime | None) -> str | None:
    """Return ISO 8601 with `Z` for UTC."""
    return value.isoformat().replace("+00:00", "Z") if value else None


def represent_session(session: AgentSession) -> dict[str, Any]:
    """Render all fields of a session (0 queries)."""
    return {
        "session_id": session.session_id,
        "state": session.state,
        "intent_id": session.selected_intent_id or None,
        "resumed_from": session.resumed_from or None,
        "frozen": session.frozen,
        "agent": {
            "name": session.agent_name, "version": session.agent_version, "model": session.agent_model,
        },
        "root": session.root,
        "revision_id": session.revision_id or None,
        "opened_at": format_time(session.opened_at),
        "last_seen_at": format_time(session.last_seen_at),
        "ended_at": format_time(session.ended_at),
    }  # fmt: skip


def count_session_entries(session: AgentSession) -> dict[str, int]:
    """Count calls by outcome, traces and approvals (2 queries)."""
    entries = LedgerEntry.objects.filter(
        workspace_id=session.workspace_id, session_id=session.session_id, kind__in=["decision", "trace"]
    )
    counts: Counter[str] = Counter()
    for row in entries.values("kind", "outcome").annotate(count=Count("pk")).order_by():
        counts["trace" if row["kind"] == "trace" else row["outcome"]] += row["count"]
    approvals = dict(session.approvals.values_list("status").annotate(count=Count("pk")).order_by())
    return {
        "calls": counts["allow"] + counts["deny"] + counts["ask"],
        "allowed": counts["allow"],
        "denied": counts["deny"],
        "asked": counts["ask"],
        "traces": counts["trace"],
        "approvals": sum(approvals.values()),
        "pending_approvals": approvals.get(Approval.Status.PENDING, 0),
    }
