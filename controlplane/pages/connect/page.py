"""The page that connects an agent: pick it, copy its configuration and a token, watch its first calls."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from controlplane.models import Role, TokenRole
from controlplane.pages.connect.progress import list_connect_steps
from controlplane.pages.connect.snippets import AGENTS, NO_TOKEN, build_snippets
from controlplane.pages.recent_calls import list_recent_calls
from controlplane.pages.settings import tokens
from controlplane.shared.access import MemberRequest, display_name, has_role, member_page

MAX_CALLS = 8


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@member_page()
def connect(request: MemberRequest) -> HttpResponse:
    """Render the page. A POST creates a token, which appears in the snippets of this response only."""
    key = request.POST.get("agent") or request.GET.get("agent", "")
    key = key if key in AGENTS else next(iter(AGENTS))
    token = _create_token(request, AGENTS[key].name) if request.method == "POST" else NO_TOKEN
    context = {
        "agents": [
            {"key": agent_key, "name": agent.name, "says": agent.says, "current": agent_key == key}
            for agent_key, agent in AGENTS.items()
        ],
        "agent": {"key": key, "name": AGENTS[key].name, "stays_open": AGENTS[key].stays_open},
        "snippets": build_snippets(key, settings.PUBLIC_URL, token),
        "fresh": token != NO_TOKEN,
        "may_make": has_role(request.role, Role.ADMIN),
        "steps": list_connect_steps(request.workspace.pk),
        "calls": list_recent_calls(request.workspace.pk, MAX_CALLS),
    }
    return render(request, "connect/connect.html", context)


def _create_token(request: MemberRequest, agent: str) -> str:
    """Create a token that acts for this admin, so that another person decides on the agent's requests."""
    if not has_role(request.role, Role.ADMIN):
        raise PermissionDenied(gettext("Only an admin can create tokens."))
    name = f"{agent}, {timezone.localdate():%Y-%m-%d}"
    actor = f"person:{request.user.pk}:{display_name(request.user)}"
    _, secret = tokens.issue(
        request.workspace, TokenRole.AGENT, name, acts_for_id=request.user.pk, actor=actor
    )
    return secret
