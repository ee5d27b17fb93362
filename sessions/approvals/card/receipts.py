"""Describe how an approval ended, and what happened since."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.urls import reverse
from django.utils import timezone

from controlplane.templatetags.times import format_duration, format_since
from sessions.approvals.call_report import CallReport, has_returned, list_reports
from sessions.approvals.card.subjects import abbreviate, list_paths
from sessions.approvals.kinds.run_changes import list_approved
from sessions.approvals.rejection_lesson import find_lesson_id
from sessions.models import Approval, ApprovalGrant, ContainedRun
from traces.models import TraceFile

GRANT_LABELS = {"once": "once", "session": "for the session", "scope": "with a wider scope"}
MAX_PATHS = 3
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
    """How an approval ended; `is_open` while more of what follows may come."""

    title: str
    steps: tuple[ReceiptStep, ...] = ()
    is_open: bool = False

    @property
    def version(self) -> str:
        """Change with what the receipt says."""
        words = "\n".join(f"{step.title}{step.detail}" for step in self.steps[1:])
        return hashlib.sha256(words.encode()).hexdigest()[:12]

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
    """Build the receipt in at most 4 queries."""
    assert approval.decided_at is not None
    duration = f"after {format_since(approval.requested_at, approval.decided_at)}"
    detail = f" {duration}{': ' if approval.comment else ''}{approval.comment}"
    first = ReceiptStep(approval.status.lower(), describe_outcome(approval, user), detail)
    if approval.status != Approval.Status.APPROVED:
        notified = " the agent was notified" if approval.comment else ""
        return Receipt(
            first.title, (first, ReceiptStep("deny", "Did not run", notified), *_build_lesson_step(approval))
        )
    follow_up = FOLLOW_UPS.get(Approval.Kind(approval.kind))
    steps, is_open = follow_up(approval) if follow_up else ([], False)
    return Receipt(first.title, (first, *steps), is_open)


def _build_lesson_step(approval: Approval) -> list[ReceiptStep]:
    lesson_id = find_lesson_id(approval)
    if not lesson_id:
        return []
    url = reverse("lessons:show", args=[approval.workspace.slug, lesson_id])
    return [ReceiptStep("lesson", "Saved as a lesson", url=url)]


def _follow_call(approval: Approval) -> tuple[list[ReceiptStep], bool]:
    """Return what became of the call since, and whether more is to come."""
    grant = ApprovalGrant.objects.filter(approval=approval).order_by("-pk").first()
    reports, recorded = list_reports(approval), _list_recorded_paths(approval)
    came_back = bool(reports or (grant is not None and grant.used_at) or has_returned(approval))
    is_revoked = grant is not None and grant.revoked_at is not None
    steps = []
    if came_back:
        steps.append(ReceiptStep("override", "Agent retried the call", " and it was allowed"))
    elif not is_revoked:
        steps.append(ReceiptStep("pending", "Agent notified", " waiting for it to retry"))
    if reports:
        steps.append(_describe_report(reports))
    if recorded:
        more = f" and {len(recorded) - MAX_PATHS} more" if len(recorded) > MAX_PATHS else ""
        steps.append(ReceiptStep("sealed", "Recorded", f" {', '.join(recorded[:MAX_PATHS])}{more}"))
    if grant is not None and grant.revoked_at:
        since = f" {format_since(grant.revoked_at, timezone.now())} ago"
        steps.append(ReceiptStep("revoked", "Grant revoked", since))
    return steps, not (reports or recorded or is_revoked)


def _describe_report(reports: list[CallReport]) -> ReceiptStep:
    """Describe the last report: how the call ended, as its client says, and how often it has run."""
    last = reports[0]
    status = "" if last.exit_status is None else f" exit status {last.exit_status}"
    duration = "" if last.duration_ms is None else f" after {format_duration(last.duration_ms)}"
    times = f", {len(reports)} runs so far" if len(reports) > 1 else ""
    title = "Ran and failed" if last.failed else "Ran"
    return ReceiptStep("error" if last.failed else "success", title, f"{status}{duration}{times}")


def _follow_run(approval: Approval) -> tuple[list[ReceiptStep], bool]:
    """Return which changes of a contained run have landed, and whether some have still to."""
    run = ContainedRun.objects.filter(approval=approval).first()
    approved = set(list_approved(approval))
    landed = [
        effect["path"]
        for effect in (run.effects if run else ())
        if effect.get("landed") and effect["path"] in approved
    ]
    refused = [effect["path"] for effect in (run.effects if run else ()) if effect.get("refused")]
    landed = [path for path in landed if path not in refused]
    steps = [ReceiptStep("sealed", "Landed", f" {abbreviate(landed)}")] if landed else []
    if refused:
        steps.append(ReceiptStep("error", "Could not land", f" {abbreviate(refused)}"))
    is_open = len(landed) + len(refused) < len(approved)
    if is_open:
        steps.append(ReceiptStep("pending", "Agent notified", " waiting for it to land the files"))
    return steps, is_open


FOLLOW_UPS: Mapping[Approval.Kind, Callable[[Approval], tuple[list[ReceiptStep], bool]]] = {
    Approval.Kind.CALL: _follow_call,
    Approval.Kind.RUN: _follow_run,
}


def _list_recorded_paths(approval: Approval) -> list[str]:
    """Return the paths of the approval that the session has recorded changes of since."""
    rows = TraceFile.objects.filter(
        workspace_id=approval.workspace_id,
        session_id=approval.session.session_id,
        path__in=list_paths(approval)[:100],
        entry__received_at__gte=approval.decided_at,
    )
    return sorted(set(rows.order_by().values_list("path", flat=True)[:50]))
