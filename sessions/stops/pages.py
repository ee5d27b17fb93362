"""Serve the page of stops and the banner that every page shows while one holds; admins stop and start."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from controlplane.models import EmergencyStop, Role
from controlplane.shared.access import MemberRequest, display_name, has_role, member_page
from controlplane.shared.errors import DomainError
from controlplane.templatetags.names import agent_title
from sessions.models import AgentSession
from sessions.stops.store import Kind, StopActor, lift, list_stops, stop

MAX_ROWS = 50


@require_safe
@never_cache
@member_page()
def stop_list(request: MemberRequest) -> HttpResponse:
    """Show what stands still and the last stops; `?fragment=banner` returns the banner alone."""
    if request.GET.get("fragment") == "banner":
        return render(request, "stops/_banner.html", {"next": request.GET.get("next", "")})
    rows = EmergencyStop.objects.filter(workspace=request.workspace).order_by("-pk")
    standing = {(row.kind, row.subject) for row in list_stops(request.workspace)}
    context = {
        "rows": list(map(_build_row, rows[:MAX_ROWS])),
        "agents": [
            (name, agent_title(name))
            for name in _list_agents(request)
            if (Kind.AGENT.value, name) not in standing
        ],
        "is_workspace_stopped": (Kind.WORKSPACE.value, "") in standing,
        "may_stop": has_role(request.role, Role.ADMIN),
    }
    return render(request, "stops/stop_list.html", context)


@require_POST
@member_page(Role.ADMIN)
def set_stop(request: MemberRequest) -> HttpResponse:
    """Stop what `kind` and `subject` name, and return to the page that asked."""
    kind, subject = request.POST.get("kind", ""), request.POST.get("subject", "")
    reason = request.POST.get("reason", "").replace("\0", "")
    try:
        stop(request.workspace, kind, subject, _get_actor(request), reason=reason)
    except DomainError as error:
        messages.error(request, error.error)
    else:
        messages.success(request, gettext("Stopped. Every call is denied from now on."))
    return redirect(_find_return_address(request))


@require_POST
@member_page(Role.ADMIN)
def lift_stop(request: MemberRequest, stop_id: str) -> HttpResponse:
    """Lift one stop, and return to the page that asked."""
    try:
        lift(request.workspace, stop_id, _get_actor(request))
    except DomainError as error:
        messages.info(request, error.error)
    else:
        messages.success(request, gettext("Started again. Calls are judged as before."))
    return redirect(_find_return_address(request))


def _get_actor(request: MemberRequest) -> StopActor:
    name = display_name(request.user)
    return StopActor(name, f"user:{request.user.pk}:{name}")


def _find_return_address(request: MemberRequest) -> str:
    """Return the page of this site that the form names, else the page of stops."""
    address = request.POST.get("next", "")
    is_here = address.startswith("/") and url_has_allowed_host_and_scheme(address, allowed_hosts=None)
    return address if is_here else reverse("stops:list", args=[request.workspace.slug])


def _build_row(row: EmergencyStop) -> dict[str, Any]:
    return {
        "id": row.public_id,
        "kind": row.kind,
        "kind_title": row.get_kind_display(),
        "subject": agent_title(row.subject) if row.kind == Kind.AGENT else row.subject,
        "reason": row.reason,
        "stopped_by": row.stopped_by,
        "stopped_at": row.stopped_at,
        "lifted_by": row.lifted_by,
        "lifted_at": row.lifted_at,
    }


def _list_agents(request: MemberRequest) -> list[str]:
    names = AgentSession.objects.filter(workspace=request.workspace).exclude(agent_name="")
    return list(names.order_by("agent_name").values_list("agent_name", flat=True).distinct())
