"""Access to pages by membership. A stranger learns nothing, not even that a workspace exists."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseBase
from django.utils.translation import gettext

from controlplane.models import Membership, Role, Workspace

ROLE_LEVELS = {Role.AUDITOR: 1, Role.REVIEWER: 2, Role.ADMIN: 3}


class MemberRequest(HttpRequest):
    """A request that passed `member_page`."""

    workspace: Workspace
    role: Role


def has_role(role: Role | str, required: Role | str) -> bool:
    return ROLE_LEVELS[Role(role)] >= ROLE_LEVELS[Role(required)]


def find_membership(user: Any, slug: str) -> Membership | None:
    """Return the user's membership in a workspace; None for strangers and inactive users. 1 query."""
    if not (user.is_authenticated and user.is_active):
        return None
    return Membership.objects.with_workspace().filter(user=user, workspace__slug=slug).first()


def member_page(
    role: Role = Role.AUDITOR,
) -> Callable[[Callable[..., HttpResponseBase]], Callable[..., HttpResponseBase]]:
    """Guard a view below `/w/<slug>/`: sign-in, then membership (404), then the role (403).

    The view is called without `slug`, with `request.workspace` and `request.role` set.
    """

    def decorate(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @login_required
        @wraps(view)
        def wrapper(request: MemberRequest, slug: str, *args: Any, **kwargs: Any) -> HttpResponseBase:
            membership = find_membership(request.user, slug)
            if membership is None:
                raise Http404  # 403 would confirm that the workspace exists
            request.workspace, request.role = membership.workspace, Role(membership.role)
            if not has_role(request.role, role):
                raise PermissionDenied(gettext("This requires the role %(role)s.") % {"role": role.label})
            return view(request, *args, **kwargs)

        return wrapper

    return decorate


def display_name(user: Any) -> str:
    """Return the name that pages and the ledger show for a user."""
    return str(user.get_full_name() or user.get_username())
