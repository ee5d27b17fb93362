"""Record how the call that a person approved has ended, by the word of its client."""

from __future__ import annotations

from controlplane.policy.model import ToolCall
from sessions.approvals.call_report import RAN, CallReport, find_approved_call
from sessions.lifecycle.open import record_session_event
from sessions.models import AgentSession


def record_report(session: AgentSession, call: ToolCall, report: CallReport, actor: str) -> None:
    """Record the report of a call that an approval let through; of any other call nothing. 1 query then."""
    approval_id = find_approved_call(session, call)
    if approval_id:
        record_session_event(
            session,
            RAN,
            actor,
            approval_id=approval_id,
            tool=call.tool,
            tool_use_id=call.call_id,
            failed=report.failed,
            exit_code=report.exit_status,
            duration_ms=report.duration_ms,
        )
