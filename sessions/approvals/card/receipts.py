"""How an approval ended, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.urls import reverse
from django.utils import timezone

from controlplane.templatetags.times import format_since
from sessions.approvals.card.subjects import paths_of
from sessions.approvals.rejection_lesson import kept_lesson
from sessions.models import Approval, ApprovalGrant
from traces.models import TraceFile

EXTENTS = {"once": "once", "session": "for the session", "scope": "with a wider scope"}
ENDINGS = {
    Approval.Status.EXPIRED: "Timed out, nobody decided",
    Approval.Status.CANCELLED: "Cancelled: the session ended",
}


@dataclass(frozen=True, slots=True)
class Step:
    meaning: str  # a word of the meanings table
    title: str
    detail: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    title: str
    steps: tuple[Step, ...] = ()

    def with_note(self, note: str) -> Receipt:
        """For a reader who came too late: what they had written, so that it is not lost."""
        return replace(self, steps=(*self.steps, Step("warning", "Your note was not sent", f" {note}")))


def who(approval: Approval, user: Any) -> str:
    """The decider as the reader calls them."""
    return "you" if approval.decided_by_id == user.pk else approval.decider


def outcome_line(approval: Approval, user: Any) -> str:
    """`Approved once by reviewer-2`, `Rejected by you`, `Timed out, nobody decided`. 0 queries."""
    ending = ENDINGS.get(Approval.Status(approval.status))
    if ending:
        return ending
    if approval.status == Approval.Status.REJECTED:
        return f"Rejected by {who(approval, user)}"
    return f"Approved{_extent(approval)} by {who(approval, user)}"


def _extent(approval: Approval) -> str:
    if approval.kind == Approval.Kind.COMPLETION:
        return ""
    if approval.minutes:
        return f" for {approval.minutes} min"
    return f" {EXTENTS.get(approval.grant_kind, '')}".rstrip()


def receipt_of(approval: Approval, user: Any) -> Receipt:
    """At most 2 queries."""
    assert approval.decided_at is not None
    took = f"after {format_since(approval.requested_at, approval.decided_at)}"
    detail = f" {took}{': ' if approval.comment else ''}{approval.comment}"
    steps = [Step(approval.status.lower(), outcome_line(approval, user), detail)]
    if approval.status == Approval.Status.APPROVED and approval.kind == Approval.Kind.CALL:
        steps += _aftermath(approval)
    elif approval.status != Approval.Status.APPROVED:
        steps.append(Step("deny", "Did not run", " the agent was told" if approval.comment else ""))
        steps += _remembered(approval)
    return Receipt(steps[0].title, tuple(steps))


def _remembered(approval: Approval) -> list[Step]:
    lesson_id = kept_lesson(approval)
    if not lesson_id:
        return []
    url = reverse("lessons:show", args=[approval.workspace.slug, lesson_id])
    return [Step("lesson", "Kept as a lesson", url=url)]


def _aftermath(approval: Approval) -> list[Step]:
    """Whether the call came back, and what was recorded of it since."""
    steps: list[Step] = []
    grant = ApprovalGrant.objects.filter(approval=approval).order_by("-pk").first()
    if grant is not None and grant.revoked_at:
        steps.append(
            Step("revoked", "Grant revoked", f" {format_since(grant.revoked_at, timezone.now())} ago")
        )
    elif grant is not None and grant.kind == ApprovalGrant.Kind.ONCE:
        steps.append(
            Step("override", "The same call came back", " and was let through")
            if grant.used_at
            else Step("pending", "The agent was told", " the same call has not come back yet")
        )
    written = _written(approval)
    if written:
        steps.append(Step("sealed", "Recorded", f" {', '.join(written[:3])}"))
    return steps


def _written(approval: Approval) -> list[str]:
    """Paths of the approval that the session has recorded changes of since."""
    rows = TraceFile.objects.filter(
        workspace_id=approval.workspace_id,
        session_id=approval.session.session_id,
        path__in=paths_of(approval)[:100],
        entry__received_at__gte=approval.decided_at,
    )
    return sorted(set(rows.order_by().values_list("path", flat=True)[:50]))
