"""Who may see which page. A stranger learns nothing, not even that a workspace exists."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseBase

from controlplane.models import Membership, Role, Workspace

ROLE_LEVELS = {Role.AUDITOR: 1, Role.REVIEWER: 2, Role.ADMIN: 3}


class MemberRequest(HttpRequest):
    """A request that `member_page` has let in."""

    workspace: Workspace
    role: Role


def has_role(role: Role | str, required: Role | str) -> bool:
    return ROLE_LEVELS[Role(role)] >= ROLE_LEVELS[Role(required)]


def find_membership(user: Any, slug: str) -> Membership | None:
    """The user's membership in the workspace `slug` (1 query); None for strangers and inactive people."""
    if not (user.is_authenticated and user.is_active):
        return None
    return Membership.objects.with_workspace().filter(user=user, workspace__slug=slug).first()


def member_page(
    role: Role = Role.AUDITOR,
) -> Callable[[Callable[..., HttpResponseBase]], Callable[..., HttpResponseBase]]:
    """For pages below `/w/<slug>/`: sign-in, then membership (404), then the role (403).

    The view is called without `slug`; it finds `request.workspace` and `request.role`.
    """

    def decorate(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @login_required
        @wraps(view)
        def wrapper(request: MemberRequest, slug: str, *args: Any, **kwargs: Any) -> HttpResponseBase:
            membership = find_membership(request.user, slug)
            if membership is None:
                raise Http404
            request.workspace, request.role = membership.workspace, Role(membership.role)
            if not has_role(request.role, role):
                raise PermissionDenied(f"This needs the role {role.label}.")
            return view(request, *args, **kwargs)

        return wrapper

    return decorate


def display_name(user: Any) -> str:
    """How people are called on pages and in the ledger."""
    return str(user.get_full_name() or user.get_username())
