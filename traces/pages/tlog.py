"""Serve logs to monitors and witnesses, below `/<uuid>/`: the log's name is its address.

With the token of the workspace, or to everybody where the operator named it in ICP_PUBLIC_LOGS.
"""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from controlplane.models import Workspace
from controlplane.shared.tokens import find_bearer
from traces.ledger.log_name import log_uuid
from traces.tlog.cosignatures import find_published_head, render_note
from traces.tlog.tiles import parse_place, read_tile

UNCHANGING = "private, max-age=31536000, immutable"


@require_safe
def checkpoint(request: HttpRequest, log: UUID) -> HttpResponse:
    """Serve the newest signed head that has its quorum of witnesses. 404 before the first."""
    head = find_published_head(_find_workspace(request, log))
    if head is None:
        raise Http404
    headers = {"Cache-Control": "no-cache"}
    return HttpResponse(render_note(head).encode(), content_type="text/plain; charset=utf-8", headers=headers)


@require_safe
def tile(request: HttpRequest, log: UUID, place: str) -> HttpResponse:
    """Serve a tile of hashes or a bundle of entries that the newest head covers."""
    workspace_id = _find_workspace(request, log)
    parsed = parse_place(place)
    content = read_tile(workspace_id, parsed) if parsed else None
    if content is None or parsed is None:
        raise Http404
    headers = {"Cache-Control": UNCHANGING if parsed.is_full else "no-cache"}
    return HttpResponse(content, content_type="application/octet-stream", headers=headers)


def _find_workspace(request: HttpRequest, log: UUID) -> int:
    """Return the workspace whose log it is, if the caller may read it. Raise Http404: both look the same."""
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    bearer = find_bearer(secret.strip()) if scheme.lower() == "bearer" and secret else None
    readable = set() if bearer is None else {bearer.workspace_id}
    if settings.PUBLIC_LOGS:
        readable |= set(Workspace.objects.filter(slug__in=settings.PUBLIC_LOGS).values_list("pk", flat=True))
    for workspace_id in readable:
        if log_uuid(workspace_id) == str(log):
            return workspace_id
    raise Http404
