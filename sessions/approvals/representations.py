"""Render approvals for the REST API and for agents."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.urls import reverse

from sessions.approvals.batch.decide import BatchResult
from sessions.approvals.kinds.command_kinds import suggest_approval_kinds
from sessions.models import Approval
from sessions.representations import format_time


def represent_approval(approval: Approval) -> dict[str, Any]:
    """Render all fields of an approval; 0 queries when workspace and session were fetched along."""
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
        "requested_at": format_time(approval.requested_at),
        "expires_at": format_time(approval.expires_at),
        "decided_at": format_time(approval.decided_at),
        "decided_by": approval.decider or None,
        "grant": approval.grant_kind or None,
        "patterns": approval.patterns or approval.call.get("patterns", []),
        "kinds": approval.kinds or approval.call.get("kinds", []),
        "access": approval.call.get("access"),
        "effects": approval.call.get("effects", []),
        "refused": approval.refused,
        "suggested_kinds": list(suggest_approval_kinds(approval)),
        "minutes": approval.minutes,
        "comment": approval.comment or None,
        "acceptance_evidence": approval.call.get("acceptance_evidence", []),
    }


def represent_approval_briefly(approval: Approval) -> dict[str, Any]:
    """Render what an agent needs to wait for an approval."""
    return {
        "id": approval.public_id,
        "status": approval.status,
        "url": approval_url(approval),
        "expires_at": format_time(approval.expires_at),
    }


def represent_result(result: BatchResult) -> dict[str, Any]:
    """Render what became of one approval of a batch."""
    approval, error = result.approval, result.error
    return {
        "id": approval.public_id,
        "ok": error is None,
        "status": approval.status,
        "decided_by": approval.decider or None,
        "grant": approval.grant_kind or None,
        "error": error.error if error else None,
        "error_type": error.error_type if error else None,
    }


def represent_missing(approval_id: str) -> dict[str, Any]:
    """Render the result for an id that is no approval of the workspace."""
    return {
        "id": approval_id,
        "ok": False,
        "status": None,
        "decided_by": None,
        "grant": None,
        "error": f"There is no approval {approval_id} in this workspace.",
        "error_type": "NOT_FOUND",
    }


def approval_url(approval: Approval) -> str:
    """Return the absolute address of the approval's card."""
    path = reverse("approvals:card", args=[approval.workspace.slug, approval.public_id])
    return settings.PUBLIC_URL + path
