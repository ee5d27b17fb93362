"""The ledger page: its signed head, its verification, and downloads for auditors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.http import FileResponse, Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from controlplane.shared.access import MemberRequest, member_page
from traces.anchors.rows import list_anchor_rows
from traces.anchors.schedule import read_anchored_heads
from traces.archives.archive import list_newest_archives
from traces.ledger import checkpoints, proofs, standalone_verifier
from traces.ledger.log_name import log_origin
from traces.ledger.sealing import count_unsealed, seal
from traces.models import Checkpoint, LedgerCheck
from traces.verification.report import VerificationReport
from traces.verification.verify import verify

MAX_ARCHIVES = 10  # the newest; the settings list more
MAX_VERIFY = 200_000  # entries; more take too long for a page


@require_safe
@member_page()
def ledger_page(request: MemberRequest) -> HttpResponse:
    """Show the head of the ledger. With `verify`, verify everything first, anchored heads included."""
    return render(request, "traces/ledger.html", _build_context(request))


@require_safe
@member_page()
def checkpoint_file(request: MemberRequest) -> HttpResponse:
    """Download the newest signed head. 404 while nothing is sealed."""
    head = proofs.find_head(request.workspace.pk)
    if head is None:
        raise Http404
    headers = {"Content-Disposition": f'attachment; filename="{request.workspace.slug}-{head.size}.txt"'}
    return HttpResponse(head.note.encode(), content_type="text/plain; charset=utf-8", headers=headers)


@require_safe
@member_page()
def verifier_file(_request: MemberRequest) -> HttpResponseBase:
    """Download the stand-alone verifier."""
    path = Path(standalone_verifier.__file__)
    return FileResponse(path.open("rb"), as_attachment=True, filename=path.name, content_type="text/x-python")


def _build_context(request: MemberRequest) -> dict[str, Any]:
    workspace_id = request.workspace.pk
    report: VerificationReport | None = None
    anchored_heads: list[str] = []
    anchor_errors: list[str] = []
    head = proofs.find_head(workspace_id)
    small = head is None or head.size <= MAX_VERIFY
    if "verify" in request.GET and small:
        seal(workspace_id)
        anchored_heads, anchor_errors = read_anchored_heads(request.workspace)
        report, head = verify(workspace_id, outside=anchored_heads), proofs.find_head(workspace_id)
    log = log_origin(workspace_id)
    return {
        "log": log,
        "size": head.size if head else 0,
        "waiting": count_unsealed(workspace_id),
        "root": bytes(head.root).hex() if head else "",
        "sealed_at": head.created_at if head else None,
        "heads": Checkpoint.objects.filter(workspace_id=workspace_id).count(),
        "verifier_key": checkpoints.format_verifier_key(log, checkpoints.load_public_key()),
        "anchors": list_anchor_rows(workspace_id),
        "archives": list_newest_archives(workspace_id)[: -MAX_ARCHIVES - 1 : -1],
        "report": report,
        "kept": len(anchored_heads),
        "unread": anchor_errors,
        "small": small,
        "check": LedgerCheck.objects.filter(pk=workspace_id).first(),
    }
