"""The settings page of the ledger: anchors of signed heads, and archives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from controlplane.models import Role
from controlplane.pages.settings.pages import get_actor, is_change, read_posted_id, settings_page, to_choices
from controlplane.shared.access import MemberRequest, has_role, member_page
from traces.anchors import schedule
from traces.anchors.rows import list_anchor_rows
from traces.archives.archive import list_newest_archives
from traces.errors import AnchorError
from traces.models import AnchorKind, LedgerAnchor

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS = (
    (AnchorKind.WEBHOOK, _("Posts the signed head to a URL, with a Standard Webhooks signature.")),
    (AnchorKind.WITNESS, _("Cosigns a head that continues the one before. Enter its address and its key.")),
    (AnchorKind.TIMESTAMP, _("Has an authority (RFC 3161) say when the head existed. Enter its address.")),
    (
        AnchorKind.GIT,
        "Writes a note on HEAD of the workspace's repository, under refs/notes/icp-checkpoints.",
    ),
)
MINUTES = 10
MAX_ARCHIVES = 200  # more than half a year of nightly ones


@settings_page
@member_page()
def ledger(request: MemberRequest) -> HttpResponse:
    """List anchors and archives.

    POST action=add (kind, target, minutes), or on, off, retry, remove (anchor_id).
    """
    error = ""
    if is_change(request):
        try:
            _change(request)
        except AnchorError as denied:
            error = str(denied)
        else:
            return redirect("settings:ledger", request.workspace.slug)
    may_edit = has_role(request.role, Role.ADMIN)
    context = {
        "anchors": list_anchor_rows(request.workspace.pk, secrets=may_edit),
        "archives": list_newest_archives(request.workspace.pk)[: -MAX_ARCHIVES - 1 : -1],
        "kinds": to_choices(KINDS),
        "given": {name: request.POST.get(name, "") for name in ("target", "minutes")},
        "minutes": MINUTES,
        "has_root": bool(request.workspace.local_root),
        "may_edit": may_edit,
        "error": error,
    }
    return render(request, "settings/ledger.html", context, status=400 if error else 200)


def _change(request: MemberRequest) -> None:
    action, actor = request.POST.get("action", ""), get_actor(request)
    if action == "add":
        _add(request, actor)
        return
    known = LedgerAnchor.objects.filter(workspace_id=request.workspace.pk)
    anchor = known.filter(pk=read_posted_id(request, "anchor_id")).first()
    if anchor is None or action not in ACTIONS:
        raise Http404
    ACTIONS[action](anchor, actor)


def _add(request: MemberRequest, actor: str) -> None:
    kind, minutes = request.POST.get("kind", ""), request.POST.get("minutes", "")
    if kind not in dict(KINDS):
        raise AnchorError(gettext("Choose a kind. Files are configured on the server."))
    if not (minutes.isascii() and minutes.isdigit() and len(minutes) < 7):
        raise AnchorError(gettext("Enter the interval as a whole number of minutes."))
    schedule.add_anchor(request.workspace, kind, request.POST.get("target", ""), int(minutes), actor=actor)


def _retry(anchor: LedgerAnchor, _actor: str) -> None:
    schedule.retry_soon(anchor)


def _switch(enabled: bool) -> Callable[[LedgerAnchor, str], None]:
    return lambda anchor, actor: schedule.set_enabled(anchor, enabled=enabled, actor=actor)


def _remove(anchor: LedgerAnchor, actor: str) -> None:
    schedule.remove_anchor(anchor, actor=actor)


ACTIONS: dict[str, Callable[[LedgerAnchor, str], Any]] = {
    "on": _switch(enabled=True),
    "off": _switch(enabled=False),
    "retry": _retry,
    "remove": _remove,
}
