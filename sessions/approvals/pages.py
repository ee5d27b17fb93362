"""Serve the queue and the card. A decision is a form post, answered with the card as a receipt.

With htmx the card is returned alone; without script the reviewer is redirected to the next card. A refused
post shows its error on the card with status 200, because the card says why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from controlplane.models import Role
from controlplane.shared.access import MemberRequest, display_name, has_role, member_page
from controlplane.shared.errors import DomainError, InvalidInputError
from sessions.approvals import lifecycle
from sessions.approvals.card.alike import AlikeCard
from sessions.approvals.card.build import NO_DRAFT, Card, CardViewer, DecisionDraft, build_card
from sessions.approvals.card.previews.run_values import RunChoice
from sessions.approvals.card.receipts import build_receipt, describe_outcome
from sessions.approvals.decision_input import Decider, DecisionInput
from sessions.approvals.grants import MAX_MINUTES, revoke
from sessions.approvals.kinds.command_kinds import GRANTS_BY_KIND
from sessions.approvals.kinds.run_changes import choose_paths
from sessions.approvals.live_grants import count_open_sessions, find_grant, list_grant_rows
from sessions.approvals.queue import PAGE_ROWS, Queue, QueueFilter, find_next_id, load_queue
from sessions.approvals.rejection_lesson import find_lesson_id
from sessions.approvals.triage.openings import record_opening
from sessions.models import Approval

MAX_COMMENT_LENGTH = 2000
MAX_PATTERNS = 50
MAX_HELD_PAGE = 99_999
MAX_FILTER_LENGTH = 200
REFRESH_QUEUE = "icp:approval"  # the event that the queue listens to


class DecideForm(forms.Form):
    action = forms.ChoiceField(choices=[("approve", _("Approve")), ("reject", _("Reject"))])
    grant = forms.ChoiceField(
        choices=[(value, value) for value in ("once", "session", "minutes", "intent", "workspace", "scope")],
        required=False,
    )
    minutes = forms.IntegerField(min_value=1, max_value=MAX_MINUTES, required=False)
    preset = forms.CharField(max_length=500, required=False)
    comment = forms.CharField(max_length=MAX_COMMENT_LENGTH, required=False)
    tool_reads_only = forms.BooleanField(required=False)
    # The card of a plan has a box for each pattern and kind: none that is ticked is an answer as well.
    plan = forms.BooleanField(required=False)
    # The card of a run has a box for each file of one page, and one for those of all other pages.
    held_page = forms.IntegerField(min_value=1, max_value=MAX_HELD_PAGE, required=False)
    others = forms.BooleanField(required=False)
    lesson = forms.BooleanField(required=False)

    def require_valid(self) -> dict[str, Any]:
        """Return the fields. Raise InvalidInputError for a form that no page sends."""
        if not self.is_valid():
            name, messages = next(iter(self.errors.items()))
            raise InvalidInputError(f"{name}: {messages[0]}")
        return self.cleaned_data

    def to_decision_input(self, patterns: list[str], kinds: list[str]) -> DecisionInput:
        data = self.require_valid()
        is_timed, is_plan = data["grant"] == "minutes", data["plan"]
        chosen_patterns = tuple(filter(None, patterns[:MAX_PATTERNS]))
        chosen_kinds = tuple(filter(None, kinds[:MAX_PATTERNS]))
        grant = "session" if is_timed else data["grant"] or "once"
        return DecisionInput(
            action=data["action"],
            grant=grant,
            patterns=chosen_patterns if is_plan else chosen_patterns or None,
            # The card names its kinds whatever the choice; they mean nothing for the call alone.
            kinds=chosen_kinds if is_plan or (chosen_kinds and grant in GRANTS_BY_KIND) else None,
            minutes=data["minutes"] if is_timed else None,
            comment=" ".join(filter(None, (data["preset"], data["comment"]))),
            tool_reads_only=data["tool_reads_only"],
            lesson=data["lesson"],
        )


@require_safe
@never_cache
@member_page()
def approval_list(request: MemberRequest) -> HttpResponse:
    fragment = request.GET.get("fragment")
    if fragment == "count":
        return _render_count(request)
    if fragment in {"queue", "rows"}:
        return _render_queue(request, fragment)
    queue = load_queue(request.workspace, request.user, read_filter(request))
    grants = list_grant_rows(request.workspace, request.role)
    empty = {"sessions": count_open_sessions(request.workspace), "grants": grants}
    context = _build_queue_context(request, queue) | {
        "approval": None,
        "empty": None if queue.strip.pending else empty,
        "grants": grants,
    }
    return render(request, "approvals/approval_list.html", context)


@require_safe
@never_cache
@member_page()
def approval_card(request: MemberRequest, approval_id: str) -> HttpResponse:
    fragment = request.GET.get("fragment")
    if fragment == "count":
        return _render_count(request)
    if fragment in {"queue", "rows"}:
        return _render_queue(request, fragment, {"id": approval_id})
    approval = _get_approval(request, approval_id)
    if fragment == "receipt":
        return _render_receipt(request, approval)
    if has_role(request.role, Role.REVIEWER):
        record_opening([approval], _build_decider(request))
    draft = DecisionDraft(choice=_read_choice(request))
    if fragment == "card":
        return render(request, "approvals/_card.html", {"approval": _build_card(request, approval, draft)})
    return _render_page(request, approval, draft)


@require_POST
@member_page(Role.REVIEWER)
def decide_approval(request: MemberRequest, approval_id: str) -> HttpResponse:
    comment = request.POST.get("comment", "")[:MAX_COMMENT_LENGTH]
    draft = DecisionDraft(request.POST.get("grant", ""), comment, _read_choice(request))

    def submit(approval: Approval) -> None:
        form, patterns = DecideForm(request.POST), request.POST.getlist("patterns")
        decision = form.to_decision_input(patterns, request.POST.getlist("kinds"))
        if approval.kind == Approval.Kind.RUN and form.cleaned_data["held_page"]:
            choice = draft.choice
            paths = choose_paths(approval, choice.ticked or (), choice.page, others=choice.others)
            decision = replace(decision, patterns=paths)
        lifecycle.decide(approval, _build_decider(request), decision)

    return _run_action(request, approval_id, submit, draft)


def _read_choice(request: MemberRequest) -> RunChoice:
    """Return which files of a run a form has ticked, or which page of them the address asks for."""
    text = request.POST.get("held_page") or request.GET.get("held", "")
    page = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 1
    if "held_page" not in request.POST:
        return RunChoice(page)
    return RunChoice(page, frozenset(request.POST.getlist("patterns")), others="others" in request.POST)


@require_POST
@member_page(Role.REVIEWER)
def extend_approval(request: MemberRequest, approval_id: str) -> HttpResponse:
    return _run_action(
        request, approval_id, lambda approval: lifecycle.extend(approval, _build_decider(request)), NO_DRAFT
    )


@require_POST
@member_page(Role.REVIEWER)
def revoke_grant(request: MemberRequest, grant_id: str) -> HttpResponse:
    grant = find_grant(request.workspace, grant_id)
    if grant is None:
        raise Http404
    if revoke(grant, _build_decider(request).actor):
        messages.success(request, gettext("Grant revoked. The next call needs approval again."))
    else:
        messages.info(request, gettext("The grant had already expired or been revoked."))
    return redirect("approvals:list", request.workspace.slug)


def _run_action(
    request: MemberRequest, approval_id: str, act: Callable[[Approval], object], draft: DecisionDraft
) -> HttpResponse:
    """Run an action on the approval, and answer with its card."""
    message = ""
    try:
        act(_get_approval(request, approval_id))
    except DomainError as error:
        message = error.error
    # Read again: a refused action usually means that somebody else decided in the meantime.
    approval = _get_approval(request, approval_id)
    if request.htmx:  # type: ignore[attr-defined]  # set by django_htmx's middleware
        card = _build_card(request, approval, draft if message else NO_DRAFT)
        context = {"approval": card, "error": message}
        response = render(request, "approvals/_card.html", context)
        response.headers["HX-Trigger"] = REFRESH_QUEUE
        return response
    if message:
        return _render_page(request, approval, draft, message)
    return _redirect_to_next(request, approval)


def _redirect_to_next(request: MemberRequest, approval: Approval) -> HttpResponse:
    """Redirect to the next card with a message; to this one while it is still pending."""
    if approval.status == Approval.Status.PENDING:
        messages.success(request, gettext("Extended by five minutes."))
        return redirect("approvals:card", request.workspace.slug, approval.public_id)
    lesson_note = gettext(" The comment is saved as a lesson.") if find_lesson_id(approval) else ""
    messages.success(request, f"{describe_outcome(approval, request.user)}.{lesson_note}")
    next_url = build_next_url(request, approval)
    return redirect(next_url or reverse("approvals:list", args=[request.workspace.slug]))


def _get_approval(request: MemberRequest, approval_id: str) -> Approval:
    """Return the approval, expired if it is overdue. Raise Http404 for another workspace's. 1 query."""
    rows = Approval.objects.with_card_relations()
    approval = rows.for_workspace(request.workspace.pk).filter(public_id=approval_id).first()
    if approval is None:
        raise Http404
    if approval.status == Approval.Status.PENDING and lifecycle.expire(approval):
        return rows.get(pk=approval.pk)
    return approval


def _build_card(
    request: MemberRequest, approval: Approval, draft: DecisionDraft = NO_DRAFT, *, with_context: bool = False
) -> Card:
    viewer = CardViewer(request.user, request.role)
    following_url = build_next_url(request, approval)
    return build_card(approval, viewer, next_url=following_url, draft=draft, with_context=with_context)


def _render_receipt(request: MemberRequest, approval: Approval) -> HttpResponse:
    """Render what followed the decision; no content while that is what the page shows (`steps`)."""
    if approval.status == Approval.Status.PENDING:
        raise Http404
    receipt = build_receipt(approval, request.user)
    if receipt.version == request.GET.get("steps"):
        return HttpResponse(status=204)
    subject = {"id": approval.public_id, "session_id": approval.session.session_id}
    response = render(request, "approvals/_receipt_steps.html", {"receipt": receipt, "approval": subject})
    if not receipt.is_open:
        response["HX-Reswap"], response["HX-Reselect"] = "outerHTML", "#receipt"
    return response


def _render_page(
    request: MemberRequest, approval: Approval, draft: DecisionDraft = NO_DRAFT, error: str = ""
) -> HttpResponse:
    card = _build_card(request, approval, draft, with_context=True)
    return render_open_card(request, card, approval, error=error)


def render_open_card(
    request: MemberRequest, card: Card | AlikeCard, approval: Approval, *, error: str = ""
) -> HttpResponse:
    """Render an open card with the queue; by `?fragment=open` the card and what goes with it alone."""
    is_group = isinstance(card, AlikeCard)
    values: dict[str, Any] = {
        "approval": card,
        "card_template": "approvals/_alike.html" if is_group else "approvals/_card.html",
        "context": None if isinstance(card, AlikeCard) else card.context,
        "error": error,
    }
    if request.GET.get("fragment") == "open":
        return render(request, "approvals/_open.html", values)
    queue = load_queue(request.workspace, request.user, read_filter(request))
    values |= _build_queue_context(request, queue)
    values["position"] = _describe_position(request, queue, approval)
    return render(request, "approvals/approval_list.html", values)


def read_filter(request: MemberRequest) -> QueueFilter:
    """Parse the filter of the queue from the address."""
    values = (request.GET.get(name, "").replace("\0", "").strip() for name in ("q", "agent", "intent"))
    return QueueFilter(*(value[:MAX_FILTER_LENGTH] for value in values))


def _build_queue_context(request: MemberRequest, queue: Queue) -> dict[str, Any]:
    return {
        "queue": queue,
        "query": queue.filter.query,
        "offset": PAGE_ROWS,
        "may_decide": has_role(request.role, Role.REVIEWER),
    }


def _render_queue(
    request: MemberRequest, fragment: str, approval: dict[str, str] | None = None
) -> HttpResponse:
    """Render the queue alone, or with `offset` its further rows."""
    text = request.GET.get("offset", "")
    offset = int(text) if fragment == "rows" and text.isascii() and text.isdigit() and len(text) < 6 else 0
    queue = load_queue(request.workspace, request.user, read_filter(request), offset=offset)
    values = {"fragment": fragment, "approval": approval, "offset": offset + PAGE_ROWS}
    template = "approvals/_rows.html" if fragment == "rows" else "approvals/_queue.html"
    return render(request, template, _build_queue_context(request, queue) | values)


def _describe_position(request: MemberRequest, queue: Queue, approval: Approval) -> dict[str, Any] | None:
    """Return the position of the open card in the queue; None once it is not pending."""
    ids = queue.ids
    if approval.public_id not in ids:
        return None
    index = ids.index(approval.public_id)
    return {
        "index": index + 1,
        "total": len(ids),
        "previous_url": _build_url(request, ids[index - 1]) if index else None,
        "next_url": _build_url(request, ids[index + 1]) if index + 1 < len(ids) else None,
    }


def build_next_url(request: MemberRequest, approval: Approval, *, skip_alike: bool = False) -> str | None:
    """Return the address of the card after this one in the queue; None when nothing else waits."""
    next_id = find_next_id(request.workspace, approval, skip_alike=skip_alike)
    return _build_url(request, next_id) if next_id else None


def _build_url(request: MemberRequest, approval_id: str) -> str:
    return reverse("approvals:card", args=[request.workspace.slug, approval_id])


def _render_count(request: MemberRequest) -> HttpResponse:
    url = reverse("approvals:list", args=[request.workspace.slug])
    return render(request, "approvals/_count.html", {"url": url})


def _build_decider(request: MemberRequest) -> Decider:
    viewer = CardViewer(request.user, request.role)
    return viewer.to_decider(display_name(request.user))
