"""The settings page of outlets: receivers of ledger entries. Members read, admins change."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache

from controlplane.models import Role
from controlplane.pages.settings.pages import get_actor, is_change, read_posted_id, settings_page
from controlplane.shared.access import MemberRequest, has_role, member_page
from traces.errors import OutletError
from traces.ledger import proofs
from traces.models import EntryKind, Outlet
from traces.outlets import delivery, manage

FORMS = (
    (Outlet.Form.WEBHOOK, _("Posts entries as JSON, signed according to Standard Webhooks.")),
    (
        Outlet.Form.OTLP,
        _("Posts entries as logs (OTLP over HTTP, JSON), to a URL that ends in /v1/logs."),
    ),
)


@settings_page
@never_cache
@member_page()
def outlet_list(request: MemberRequest) -> HttpResponse:
    """List outlets. The response to the POST that creates a webhook is the only page with its secret."""
    new_webhook, error = None, ""
    if is_change(request):
        action = request.POST.get("action")
        if action != "add":
            _apply_action(request, _find_outlet(request), str(action))
            return redirect("settings:outlets", request.workspace.slug)
        try:
            new_webhook = _add(request)
        except OutletError as refusal:
            error = refusal.error
    outlets = Outlet.objects.filter(workspace_id=request.workspace.pk).order_by("pk")
    head = proofs.find_head(request.workspace.pk)
    context = {
        "outlets": [_to_row(outlet, head.size if head else 0) for outlet in outlets],
        "forms": [{"value": form.value, "label": form.label, "says": says} for form, says in FORMS],
        "kinds": [{"value": kind.value, "label": kind.label} for kind in EntryKind],
        "may_edit": has_role(request.role, Role.ADMIN),
        "fresh": new_webhook,
        "error": error,
        "posted": request.POST if error else {},
    }
    return render(request, "settings/outlets.html", context, status=400 if error else 200)


def _add(request: MemberRequest) -> dict[str, str] | None:
    post = request.POST
    settings = manage.OutletSettings(
        post.get("form", ""),
        post.get("url", "").strip(),
        kinds=post.getlist("kinds"),
        include_bodies="whole" in post,
        header=post.get("header", "").strip(),
        from_start="from_start" in post,
    )
    outlet = manage.add_outlet(request.workspace.pk, settings, actor=get_actor(request))
    webhook = outlet.form == Outlet.Form.WEBHOOK
    return {"url": outlet.url, "secret": outlet.secret} if webhook else None


def _find_outlet(request: MemberRequest) -> Outlet:
    outlet_id = read_posted_id(request, "outlet_id")
    outlet = Outlet.objects.filter(workspace_id=request.workspace.pk, pk=outlet_id).first()
    if outlet is None:
        raise Http404
    return outlet


def _apply_action(request: MemberRequest, outlet: Outlet, action: str) -> None:
    if action == "remove":
        manage.remove_outlet(outlet, actor=get_actor(request))
    elif action == "retry":
        manage.retry_now(outlet)
    elif action == "test":
        trouble = delivery.send_test(outlet)
        if trouble:
            messages.error(request, gettext("The test failed. %(reason)s") % {"reason": trouble})
        else:
            messages.success(request, gettext("The test was delivered."))
    else:
        raise Http404


def _to_row(outlet: Outlet, size: int) -> dict[str, Any]:
    return {
        "id": outlet.pk,
        "form": outlet.get_form_display(),
        "url": outlet.url,
        "kinds": ", ".join(outlet.kinds) or "all",
        "whole": outlet.whole,
        "waiting": max(0, size - outlet.next_seq),
        "delivered_at": outlet.delivered_at,
        "failures": outlet.failures,
        "next_try_at": outlet.next_try_at,
        "error": outlet.last_error,
    }
