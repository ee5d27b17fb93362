"""Serve the card of alike calls, and take one decision for several approvals."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from controlplane.models import Role, Workspace
from controlplane.shared.access import MemberRequest, display_name, has_role, member_page
from controlplane.shared.errors import DomainError
from sessions.approvals.batch.decide import MAX_APPROVALS, BatchResult, decide_all
from sessions.approvals.card.alike import build_alike_card
from sessions.approvals.card.build import CardViewer
from sessions.approvals.card.receipts import describe_outcome
from sessions.approvals.card.subjects import describe_subject
from sessions.approvals.pages import REFRESH_QUEUE, DecideForm, build_next_url, render_open_card
from sessions.approvals.queue import list_alike
from sessions.approvals.triage.openings import record_opening
from sessions.models import Approval

SHAPE_PREFIX = "shape:"  # a ticked row that stands for all calls of a shape


@require_safe
@never_cache
@member_page()
def alike_card(request: MemberRequest, shape: str) -> HttpResponse:
    """Show what waits of one shape; a single call has a card of its own."""
    approvals = list_alike(request.workspace, shape)
    if not approvals:
        raise Http404
    if len(approvals) == 1:
        return redirect("approvals:card", request.workspace.slug, approvals[0].public_id)
    viewer = CardViewer(request.user, request.role)
    if has_role(request.role, Role.REVIEWER):
        # Everything that can be ticked stands on the card.
        record_opening(approvals[:MAX_APPROVALS], viewer.to_decider(display_name(request.user)))
    card = build_alike_card(
        approvals, viewer, next_url=build_next_url(request, approvals[0], skip_alike=True)
    )
    return render_open_card(request, card, approvals[0])


@require_POST
@member_page(Role.REVIEWER)
def decide_batch(request: MemberRequest) -> HttpResponse:
    """Decide every approval in `selected` by itself and show a result for each."""
    approvals = list(_list_selected(request.workspace, request.POST.getlist("selected")))
    try:
        decision = DecideForm(request.POST).to_decision_input([], [])
    except DomainError as error:
        messages.error(request, error.error)
        return redirect("approvals:list", request.workspace.slug)
    viewer = CardViewer(request.user, request.role)
    results = decide_all(approvals, viewer.to_decider(display_name(request.user)), decision)
    if not request.htmx:  # type: ignore[attr-defined]  # set by django_htmx's middleware
        messages.success(request, _summarize(results))
        for result in (result for result in results if result.error):
            messages.error(request, f"{describe_subject(result.approval).object}: {result.error.error}")  # type: ignore[union-attr]
        return redirect("approvals:list", request.workspace.slug)
    rows = [
        {
            "object": describe_subject(result.approval).object,
            "id": result.approval.public_id,
            "state": result.approval.status.lower(),
            "ok": result.error is None,
            "text": result.error.error if result.error else describe_outcome(result.approval, request.user),
        }
        for result in sorted(results, key=lambda result: result.error is None)
    ]
    next_url = build_next_url(request, approvals[-1], skip_alike=True) if approvals else None
    context = {"results": rows, "title": _summarize(results), "next_url": next_url}
    response = render(request, "approvals/_batch_result.html", context)
    response.headers["HX-Trigger"] = REFRESH_QUEUE
    return response


def _list_selected(workspace: Workspace, selected: list[str]) -> Iterable[Approval]:
    """Yield the ticked approvals, those of a ticked group each, up to the limit of a batch."""
    ids = [value for value in dict.fromkeys(selected) if not value.startswith(SHAPE_PREFIX)]
    shapes = [value.removeprefix(SHAPE_PREFIX) for value in selected if value.startswith(SHAPE_PREFIX)]
    rows = Approval.objects.with_card_relations().for_workspace(workspace.pk)
    approvals = {row.pk: row for row in rows.filter(public_id__in=ids[:MAX_APPROVALS])}
    for shape in shapes[:MAX_APPROVALS]:
        approvals |= {row.pk: row for row in list_alike(workspace, shape)}
    return list(approvals.values())[:MAX_APPROVALS]


def _summarize(results: list[BatchResult]) -> str:
    done = sum(result.error is None for result in results)
    return gettext("Decided %(done)s of %(all)s.") % {"done": done, "all": len(results)}
