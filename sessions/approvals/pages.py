"""The queue and the card in the browser. A decision is a form post; the answer is the card as a receipt.

With htmx the card comes back alone; without script the reader is led to the next card. What the service
refuses is said on the card, with status 200, because the card is the right thing to see then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from controlplane.models import Role
from controlplane.shared.access import MemberRequest, display_name, member_page
from controlplane.shared.errors import DomainError, InvalidInputError
from sessions.approvals import lifecycle
from sessions.approvals.card.build import NO_DRAFT, Card, Draft, Reader, card_of
from sessions.approvals.card.receipts import outcome_line
from sessions.approvals.choices import Choice, Decider
from sessions.approvals.grants import MAX_MINUTES, revoke
from sessions.approvals.live_grants import find_grant, grant_rows, sessions_at_work
from sessions.approvals.queue import Queue, next_waiting, queue_of
from sessions.approvals.rejection_lesson import kept_lesson
from sessions.models import Approval

MAX_COMMENT_LENGTH = 2000
MAX_PATTERNS = 50
REFRESH_QUEUE = "icp:approval"  # the event that the queue listens to


class DecideForm(forms.Form):
    action = forms.ChoiceField(choices=[("approve", "Approve"), ("reject", "Reject")])
    grant = forms.ChoiceField(
        choices=[(value, value) for value in ("once", "session", "minutes", "scope")], required=False
    )
    minutes = forms.IntegerField(min_value=1, max_value=MAX_MINUTES, required=False)
    preset = forms.CharField(max_length=500, required=False)
    comment = forms.CharField(max_length=MAX_COMMENT_LENGTH, required=False)
    lesson = forms.BooleanField(required=False)

    def choice(self, patterns: list[str]) -> Choice:
        """Read the choice. Raise InvalidInputError for a form that no page sends."""
        if not self.is_valid():
            name, texts = next(iter(self.errors.items()))
            raise InvalidInputError(f"{name}: {texts[0]}")
        data = self.cleaned_data
        lasting = data["grant"] == "minutes"
        return Choice(
            action=data["action"],
            grant="session" if lasting else data["grant"] or "once",
            patterns=tuple(pattern for pattern in patterns[:MAX_PATTERNS] if pattern),
            minutes=data["minutes"] if lasting else None,
            comment=" ".join(filter(None, (data["preset"], data["comment"]))),
            lesson=data["lesson"],
        )


@require_safe
@never_cache
@member_page()
def approval_list(request: MemberRequest) -> HttpResponse:
    if request.GET.get("fragment") == "count":
        return _count(request)
    queue = queue_of(request.workspace, request.user)
    if request.GET.get("fragment") == "queue":
        return render(request, "approvals/_queue.html", {"queue": queue, "fragment": "queue"})
    grants = grant_rows(request.workspace, request.role)
    idle = {"sessions": sessions_at_work(request.workspace), "grants": grants}
    context = {"queue": queue, "approval": None, "empty": None if queue.order else idle, "grants": grants}
    return render(request, "approvals/approval_list.html", context)


@require_safe
@never_cache
@member_page()
def approval_card(request: MemberRequest, approval_id: str) -> HttpResponse:
    fragment = request.GET.get("fragment")
    if fragment == "count":
        return _count(request)
    if fragment == "queue":
        queue = queue_of(request.workspace, request.user)
        context = {"queue": queue, "fragment": "queue", "approval": {"id": approval_id}}
        return render(request, "approvals/_queue.html", context)
    approval = _approval(request, approval_id)
    if fragment == "card":
        return render(request, "approvals/_card.html", {"approval": _card(request, approval)})
    return _page(request, approval)


@require_POST
@member_page(Role.REVIEWER)
def decide_approval(request: MemberRequest, approval_id: str) -> HttpResponse:
    draft = Draft(request.POST.get("grant", ""), request.POST.get("comment", "")[:MAX_COMMENT_LENGTH])

    def act(approval: Approval) -> None:
        choice = DecideForm(request.POST).choice(request.POST.getlist("patterns"))
        lifecycle.decide(approval, _decider(request), choice)

    return _act(request, approval_id, act, draft)


@require_POST
@member_page(Role.REVIEWER)
def extend_approval(request: MemberRequest, approval_id: str) -> HttpResponse:
    return _act(
        request, approval_id, lambda approval: lifecycle.extend(approval, _decider(request)), NO_DRAFT
    )


@require_POST
@member_page(Role.REVIEWER)
def revoke_grant(request: MemberRequest, grant_id: str) -> HttpResponse:
    grant = find_grant(request.workspace, grant_id)
    if grant is None:
        raise Http404
    if revoke(grant, _decider(request).actor):
        messages.success(request, "The grant is revoked. The next call asks again.")
    else:
        messages.info(request, "That grant was over already.")
    return redirect("approvals:list", request.workspace.slug)


def _act(
    request: MemberRequest, approval_id: str, act: Callable[[Approval], object], draft: Draft
) -> HttpResponse:
    """Do it, and show what became of the card."""
    message = ""
    try:
        act(_approval(request, approval_id))
    except DomainError as error:
        message = error.error
    approval = _approval(request, approval_id)
    if request.htmx:  # type: ignore[attr-defined]  # set by django_htmx's middleware
        card = _card(request, approval, draft if message else NO_DRAFT)
        context = {"approval": card, "error": message}
        response = render(request, "approvals/_card.html", context)
        response.headers["HX-Trigger"] = REFRESH_QUEUE
        return response
    if message:
        return _page(request, approval, draft, message)
    return _onward(request, approval)


def _onward(request: MemberRequest, approval: Approval) -> HttpResponse:
    """Without script: to the next card with a word on what was done; back to this one while it waits."""
    if approval.status == Approval.Status.PENDING:
        messages.success(request, "Five more minutes.")
        return redirect("approvals:card", request.workspace.slug, approval.public_id)
    kept = " The words are kept as a lesson." if kept_lesson(approval) else ""
    messages.success(request, f"{outcome_line(approval, request.user)}.{kept}")
    following = _next_url(request, approval)
    return redirect(following or reverse("approvals:list", args=[request.workspace.slug]))


def _approval(request: MemberRequest, approval_id: str) -> Approval:
    """With its deadline applied. 1 query; a stranger's approval is no approval."""
    rows = Approval.objects.with_card_relations()
    found = rows.for_workspace(request.workspace.pk).filter(public_id=approval_id).first()
    if found is None:
        raise Http404
    if found.status == Approval.Status.PENDING and lifecycle.expire(found):
        return rows.get(pk=found.pk)
    return found


def _card(
    request: MemberRequest, approval: Approval, draft: Draft = NO_DRAFT, *, with_context: bool = False
) -> Card:
    reader = Reader(request.user, request.role)
    following = _next_url(request, approval)
    return card_of(approval, reader, next_url=following, draft=draft, with_context=with_context)


def _page(
    request: MemberRequest, approval: Approval, draft: Draft = NO_DRAFT, error: str = ""
) -> HttpResponse:
    card = _card(request, approval, draft, with_context=True)
    queue = queue_of(request.workspace, request.user)
    context = {
        "queue": queue,
        "approval": card,
        "context": card.context,
        "position": _position(request, queue, approval),
        "error": error,
    }
    return render(request, "approvals/approval_list.html", context)


def _position(request: MemberRequest, queue: Queue, approval: Approval) -> dict[str, Any] | None:
    """Where the open card stands in the queue; None when it waits no longer."""
    ids = queue.order
    if approval.public_id not in ids:
        return None
    at = ids.index(approval.public_id)
    return {
        "index": at + 1,
        "total": len(ids),
        "previous_url": _url(request, ids[at - 1]) if at else None,
        "next_url": _url(request, ids[at + 1]) if at + 1 < len(ids) else None,
    }


def _next_url(request: MemberRequest, approval: Approval) -> str | None:
    following = next_waiting(request.workspace, approval)
    return _url(request, following) if following else None


def _url(request: MemberRequest, approval_id: str) -> str:
    return reverse("approvals:card", args=[request.workspace.slug, approval_id])


def _count(request: MemberRequest) -> HttpResponse:
    url = reverse("approvals:list", args=[request.workspace.slug])
    return render(request, "approvals/_count.html", {"url": url})


def _decider(request: MemberRequest) -> Decider:
    reader = Reader(request.user, request.role)
    return reader.decider(display_name(request.user))
