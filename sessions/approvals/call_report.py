"""Find the approval of a call that ran, and how the call of an approval ended, by the word of its client."""

from __future__ import annotations

from dataclasses import dataclass

from controlplane.policy.model import ToolCall, Verdict
from controlplane.shared.masking import to_storable
from sessions.models import AgentSession, Approval
from traces.ledger.append import read_body
from traces.models import EntryKind, LedgerEntry

RAN = "ran"  # the event of the session
MAX_REPORTS = 200  # newest ones of the session


@dataclass(frozen=True, slots=True)
class CallReport:
    """What a client says of a call that ran; None where it does not say."""

    failed: bool = False
    exit_status: int | None = None
    duration_ms: int | None = None


def find_approved_call(session: AgentSession, call: ToolCall) -> str:
    """Return the id of the approval that let this very call through, the newest; "" for none.

    1 query, 2 where the tool has approved calls in the session.
    """
    approved = Approval.objects.filter(
        session=session, kind=Approval.Kind.CALL, status=Approval.Status.APPROVED, tool=call.tool
    )
    if not approved.exists():
        return ""
    # Compared in the database: inputs are long, and masking one costs more than the query.
    same = approved.filter(call__input=to_storable(call.input)).order_by("-decided_at")
    return same.values_list("public_id", flat=True).first() or ""


def list_reports(approval: Approval) -> list[CallReport]:
    """Return the reports of the approved call, newest first. 1 query."""
    events = LedgerEntry.objects.for_workspace(approval.workspace_id).of_kind(EntryKind.SESSION)
    rows = events.of_session(approval.session.session_id).filter(
        outcome=RAN, received_at__gte=approval.decided_at
    )
    bodies = (read_body(row) or {} for row in rows.with_body().newest_first()[:MAX_REPORTS])
    return [
        CallReport(bool(body.get("failed")), body.get("exit_code"), body.get("duration_ms"))
        for body in bodies
        if body.get("approval_id") == approval.public_id
    ]


def has_returned(approval: Approval) -> bool:
    """Whether the very call came back and was allowed, whatever grant let it through. 1 query."""
    decisions = LedgerEntry.objects.for_workspace(approval.workspace_id).of_kind(EntryKind.DECISION)
    rows = decisions.of_session(approval.session.session_id).filter(
        tool=approval.tool, outcome=Verdict.ALLOW.value, received_at__gte=approval.decided_at
    )
    held = approval.call.get("input")
    return any((read_body(row) or {}).get("input") == held for row in rows.with_body()[:MAX_REPORTS])
