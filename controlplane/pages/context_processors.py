"""Template context of every page's frame: workspaces, pending count, theme, live sequence number."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from controlplane.models import Membership, Workspace
from controlplane.pages.sign_in import THEME_COOKIE, THEMES
from sessions.live.events import find_newest_seq
from sessions.models import Approval
from sessions.stops.store import list_stops


def page_frame(request: HttpRequest) -> dict[str, Any]:
    """Return the frame's variables. 3 queries on a page of a workspace, one more after each of its changes.

    Lazy ones run when rendered.
    """
    theme = request.COOKIES.get(THEME_COOKIE, "")
    values: dict[str, Any] = {"theme": theme if theme in THEMES else "system", "workspace": None}
    workspace: Workspace | None = getattr(request, "workspace", None)
    if workspace is None:
        return values
    return values | {
        "workspace": workspace,
        "role": request.role,  # type: ignore[attr-defined]  # set by member_page, as the workspace is
        "workspaces": SimpleLazyObject(lambda: _list_workspaces(request.user)),
        "pending_count": _count_pending(workspace),
        "stops": list_stops(workspace),
        "live_seq": find_newest_seq(workspace.pk),
    }


def _list_workspaces(user: Any) -> list[Workspace]:
    return [membership.workspace for membership in Membership.objects.with_workspace().filter(user=user)]


def _count_pending(workspace: Workspace) -> int:
    return Approval.objects.for_workspace(workspace.pk).pending().count()
