"""Sessions and approvals as the REST API shows them."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

from django.db.models import Count

from sessions.gate.answers import approval_url
from sessions.models import AgentSession, Approval
from traces.models import LedgerEntry


def moment(value: datetime | None) -> str | None:
    return value.isoformat().replace("+00:00", "Z") if value else None


def session_answer(session: AgentSession) -> dict[str, Any]:
    """0 queries."""
    return {
        "session_id": session.session_id,
        "state": session.state,
        "intent_id": session.selected_intent_id or None,
        "frozen": session.frozen,
        "agent": {
            "name": session.agent_name, "version": session.agent_version, "model": session.agent_model,
        },
        "root": session.root,
        "revision_id": session.revision_id or None,
        "opened_at": moment(session.opened_at),
        "last_seen_at": moment(session.last_seen_at),
        "ended_at": moment(session.ended_at),
    }  # fmt: skip


def session_counts(session: AgentSession) -> dict[str, int]:
    """Calls by outcome, traces, approvals (2 queries)."""
    entries = LedgerEntry.objects.filter(
        workspace_id=session.workspace_id, session_id=session.session_id, kind__in=["decision", "trace"]
    )
    counted: Counter[str] = Counter()
    for row in entries.values("kind", "outcome").annotate(count=Count("pk")).order_by():
        counted["trace" if row["kind"] == "trace" else row["outcome"]] += row["count"]
    approvals = dict(session.approvals.values_list("status").annotate(count=Count("pk")).order_by())
    return {
        "calls": counted["allow"] + counted["deny"] + counted["ask"],
        "allowed": counted["allow"],
        "denied": counted["deny"],
        "asked": counted["ask"],
        "traces": counted["trace"],
        "approvals": sum(approvals.values()),
        "pending_approvals": approvals.get(Approval.Status.PENDING, 0),
    }


def approval_answer(approval: Approval) -> dict[str, Any]:
    """0 queries when workspace and session were fetched along."""
    return {
        "id": approval.public_id,
        "status": approval.status,
        "kind": approval.kind,
        "url": approval_url(approval),
        "session_id": approval.session.session_id,
        "agent": approval.session.agent_name,
        "intent_id": approval.intent_id or None,
        "intent_revision": approval.intent_revision or None,
        "tool": approval.tool or None,
        "input": approval.call.get("input"),
        "targets": approval.call.get("targets", []),
        "offending": approval.call.get("offending", []),
        "unknown": approval.call.get("unknown", []),
        "error_type": approval.error_type or None,
        "reason": approval.reason or None,
        "error": approval.message or None,
        "reach": {"level": approval.get_reach_display().lower(), "why": approval.reach_why},
        "requested_at": moment(approval.requested_at),
        "expires_at": moment(approval.expires_at),
        "decided_at": moment(approval.decided_at),
        "decided_by": approval.decider or None,
        "grant": approval.grant_kind or None,
        "patterns": approval.patterns or approval.call.get("patterns", []),
        "minutes": approval.minutes,
        "comment": approval.comment or None,
    }
