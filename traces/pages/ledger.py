"""The page of the ledger itself: its signed head, its verification, and what an auditor takes home."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.http import FileResponse, Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from controlplane.shared.access import MemberRequest, member_page
from traces.anchors.rows import anchor_rows
from traces.anchors.schedule import kept_heads
from traces.archives.archive import newest_archives
from traces.ledger import checkpoints, proofs, standalone_verifier
from traces.ledger.sealing import seal, waiting
from traces.ledger.verify import Report, verify
from traces.models import Checkpoint

MAX_ARCHIVES = 10  # the newest; the settings show more
MAX_VERIFY = 200_000  # entries; more of them take longer than a person waits for a page


@require_safe
@member_page()
def ledger_page(request: MemberRequest) -> HttpResponse:
    """The head of the ledger; with `verify` everything is verified first, anchors' heads included."""
    return render(request, "traces/ledger.html", _context(request))


@require_safe
@member_page()
def checkpoint_file(request: MemberRequest) -> HttpResponse:
    """The newest signed head as a file. Not found while nothing is sealed."""
    head = proofs.head(request.workspace.pk)
    if head is None:
        raise Http404
    headers = {"Content-Disposition": f'attachment; filename="{request.workspace.slug}-{head.size}.txt"'}
    return HttpResponse(head.note.encode(), content_type="text/plain; charset=utf-8", headers=headers)


@require_safe
@member_page()
def verifier_file(_request: MemberRequest) -> HttpResponseBase:
    """The stand-alone verifier, as it is part of this product."""
    path = Path(standalone_verifier.__file__)
    return FileResponse(path.open("rb"), as_attachment=True, filename=path.name, content_type="text/x-python")


def _context(request: MemberRequest) -> dict[str, Any]:
    workspace_id = request.workspace.pk
    report: Report | None = None
    kept: list[str] = []
    unread: list[str] = []
    head = proofs.head(workspace_id)
    small = head is None or head.size <= MAX_VERIFY
    if "verify" in request.GET and small:
        seal(workspace_id)
        kept, unread = kept_heads(request.workspace)
        report, head = verify(workspace_id, outside=kept), proofs.head(workspace_id)
    log = checkpoints.origin_of(workspace_id)
    return {
        "log": log,
        "size": head.size if head else 0,
        "waiting": waiting(workspace_id),
        "root": bytes(head.root).hex() if head else "",
        "sealed_at": head.created_at if head else None,
        "heads": Checkpoint.objects.filter(workspace_id=workspace_id).count(),
        "verifier_key": checkpoints.verifier_key(log, checkpoints.public_key()),
        "anchors": anchor_rows(workspace_id),
        "archives": newest_archives(workspace_id)[: -MAX_ARCHIVES - 1 : -1],
        "report": report,
        "kept": len(kept),
        "unread": unread,
        "small": small,
    }
