"""Template context of every page's frame: workspaces, counts, theme, contradiction of the ledger."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Subquery, Value
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from controlplane.models import Membership, Workspace
from controlplane.pages.sign_in import THEME_COOKIE, THEMES
from sessions.live.events import find_newest_seq
from sessions.models import Approval
from sessions.stops.store import list_stops
from traces.anchors.continuation import list_contradictions


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
        **_read_state(workspace),
        "stops": list_stops(workspace),
        "live_seq": find_newest_seq(workspace.pk),
    }


def _list_workspaces(user: Any) -> list[Workspace]:
    return [membership.workspace for membership in Membership.objects.with_workspace().filter(user=user)]


def _read_state(workspace: Workspace) -> dict[str, Any]:
    """Return the number of pending approvals and what contradicts the ledger. 1 query."""
    pending = Approval.objects.for_workspace(workspace.pk).pending().order_by().values("workspace")
    number = Coalesce(Subquery(pending.annotate(number=Count("pk")).values("number")), 0)
    reason = Coalesce(Subquery(list_contradictions(workspace.pk)[:1]), Value(""))
    rows = Workspace.objects.filter(pk=workspace.pk).values_list(number, reason)
    pending_count, contradiction = rows.first() or (0, "")
    return {"pending_count": pending_count, "contradiction": contradiction}
