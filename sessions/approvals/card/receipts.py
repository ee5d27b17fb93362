"""Describe how an approval ended, and what happened since."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.urls import reverse
from django.utils import timezone

from controlplane.templatetags.times import format_since
from sessions.approvals.card.subjects import list_paths
from sessions.approvals.rejection_lesson import find_lesson_id
from sessions.models import Approval, ApprovalGrant
from traces.models import TraceFile

GRANT_LABELS = {"once": "once", "session": "for the session", "scope": "with a wider scope"}
ENDINGS = {
    Approval.Status.EXPIRED: "Timed out, nobody decided",
    Approval.Status.CANCELLED: "Cancelled: the session ended",
}


@dataclass(frozen=True, slots=True)
class ReceiptStep:
    meaning: str  # a word of the meanings table
    title: str
    detail: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    title: str
    steps: tuple[ReceiptStep, ...] = ()

    def with_note(self, note: str) -> Receipt:
        """Return the receipt with the note of a reviewer who came too late, so that it is not lost."""
        return replace(
            self, steps=(*self.steps, ReceiptStep("warning", "Your note was not sent", f" {note}"))
        )


def name_decider(approval: Approval, user: Any) -> str:
    """Return "you" to the decider, else their name."""
    return "you" if approval.decided_by_id == user.pk else approval.decider


def describe_outcome(approval: Approval, user: Any) -> str:
    """Return e.g. `Approved once by Rex`, `Rejected by you`, `Timed out, nobody decided`. 0 queries."""
    ending = ENDINGS.get(Approval.Status(approval.status))
    if ending:
        return ending
    if approval.status == Approval.Status.REJECTED:
        return f"Rejected by {name_decider(approval, user)}"
    return f"Approved{_describe_grant(approval)} by {name_decider(approval, user)}"


def _describe_grant(approval: Approval) -> str:
    if approval.kind == Approval.Kind.COMPLETION:
        return ""
    if approval.minutes:
        return f" for {approval.minutes} min"
    return f" {GRANT_LABELS.get(approval.grant_kind, '')}".rstrip()


def build_receipt(approval: Approval, user: Any) -> Receipt:
    """Build the receipt in at most 2 queries."""
    assert approval.decided_at is not None
    duration = f"after {format_since(approval.requested_at, approval.decided_at)}"
    detail = f" {duration}{': ' if approval.comment else ''}{approval.comment}"
    steps = [ReceiptStep(approval.status.lower(), describe_outcome(approval, user), detail)]
    if approval.status == Approval.Status.APPROVED and approval.kind == Approval.Kind.CALL:
        steps += _list_follow_up_steps(approval)
    elif approval.status != Approval.Status.APPROVED:
        steps.append(
            ReceiptStep("deny", "Did not run", " the agent was notified" if approval.comment else "")
        )
        steps += _build_lesson_step(approval)
    return Receipt(steps[0].title, tuple(steps))


def _build_lesson_step(approval: Approval) -> list[ReceiptStep]:
    lesson_id = find_lesson_id(approval)
    if not lesson_id:
        return []
    url = reverse("lessons:show", args=[approval.workspace.slug, lesson_id])
    return [ReceiptStep("lesson", "Saved as a lesson", url=url)]


def _list_follow_up_steps(approval: Approval) -> list[ReceiptStep]:
    """Return whether the agent retried the call, and what was recorded of it since."""
    steps: list[ReceiptStep] = []
    grant = ApprovalGrant.objects.filter(approval=approval).order_by("-pk").first()
    if grant is not None and grant.revoked_at:
        steps.append(
            ReceiptStep("revoked", "Grant revoked", f" {format_since(grant.revoked_at, timezone.now())} ago")
        )
    elif grant is not None and grant.kind == ApprovalGrant.Kind.ONCE:
        steps.append(
            ReceiptStep("override", "Agent retried the call", " and it was allowed")
            if grant.used_at
            else ReceiptStep("pending", "Agent notified", " waiting for it to retry")
        )
    recorded = _list_recorded_paths(approval)
    if recorded:
        steps.append(ReceiptStep("sealed", "Recorded", f" {', '.join(recorded[:3])}"))
    return steps


def _list_recorded_paths(approval: Approval) -> list[str]:
    """Return the paths of the approval that the session has recorded changes of since."""
    rows = TraceFile.objects.filter(
        workspace_id=approval.workspace_id,
        session_id=approval.session.session_id,
        path__in=list_paths(approval)[:100],
        entry__received_at__gte=approval.decided_at,
    )
    return sorted(set(rows.order_by().values_list("path", flat=True)[:50]))
