"""Kinds of anchors: validate a target, send a head to it, and read heads back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from django.utils import timezone
from django.utils.crypto import salted_hmac

from controlplane.models import Workspace
from controlplane.shared import http_post
from traces.anchors import anchor_file, git_notes
from traces.anchors.outside_record import OutsideRecordError
from traces.anchors.timestamps import request_timestamp
from traces.anchors.witness import check_witness, request_cosignature
from traces.errors import AnchorError
from traces.ledger.checkpoints import NoteError, encode_base64
from traces.models import AnchorKind, Checkpoint, LedgerAnchor
from traces.outlets.webhook import SECRET_PREFIX, sign

ANCHOR_FAILURES = (
    OSError,
    NoteError,
    OutsideRecordError,
    git_notes.GitNoteError,
    http_post.TargetError,
)  # what sending or reading may raise


def derive_webhook_secret(anchor: LedgerAnchor) -> str:
    """Return the secret that signs posts to a webhook, in the form of Standard Webhooks.

    It is derived from the server's secret key and stored nowhere."""
    subject = f"{anchor.workspace_id}:{anchor.target}"
    return SECRET_PREFIX + encode_base64(
        salted_hmac("traces.anchor_places", subject, algorithm="sha256").digest()
    )


def _to_file(anchor: LedgerAnchor, head: Checkpoint) -> str:
    anchor_file.append_head(head.note, Path(anchor.target), anchor.workspace_id)
    return f"Appended the head of {head.size} entries."


def _to_git(anchor: LedgerAnchor, head: Checkpoint) -> str:
    root = _repository(Workspace.objects.get(pk=anchor.workspace_id))
    return f"Noted on commit {git_notes.append_note(root, head.note)[:12]}."


def _repository(workspace: Workspace) -> str:
    """Return the workspace's local root. Raise GitNoteError without one: git would use the server's own."""
    if not workspace.local_root:
        raise git_notes.GitNoteError("the workspace has no local root on this server any more")
    return workspace.local_root


def _to_webhook(anchor: LedgerAnchor, head: Checkpoint) -> str:
    body, timestamp = head.note.encode(), str(int(timezone.now().timestamp()))
    message_id = f"icp-anchor-{anchor.pk}-{head.size}"
    headers = {
        "Content-Type": "text/plain; charset=utf-8",
        "User-Agent": "intent-control-plane",
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{sign(derive_webhook_secret(anchor), message_id, timestamp, body)}",
    }
    response = http_post.post(anchor.target, body, headers)
    if not response.is_success:
        raise http_post.TargetError(f"The webhook answered {response.status}: {response.text}")
    return f"The webhook answered {response.status}: {response.text}"


def _from_file(anchor: LedgerAnchor, workspace: Workspace) -> list[str]:
    path = Path(anchor.target)
    return anchor_file.read_anchor_file(path, workspace.pk) if anchor.anchored_size or path.exists() else []


def _from_git(_anchor: LedgerAnchor, workspace: Workspace) -> list[str]:
    notes = git_notes.read_notes(_repository(workspace))
    return [head for note in notes for head in anchor_file.select_heads(note, workspace.pk)]


def _file_target(_workspace: Workspace, target: str) -> str:
    if not Path(target).is_absolute():
        raise AnchorError("Give the absolute path of the file.")
    return target


def _git_target(workspace: Workspace, _target: str) -> str:
    if not workspace.local_root:
        raise AnchorError("A git note needs the workspace's repository on this server (a local root).")
    return ""


def _webhook_target(_workspace: Workspace, target: str) -> str:
    try:
        http_post.check_url(target)
    except http_post.TargetError as error:
        raise AnchorError(str(error)) from error
    return target


CHECKS: dict[str, Callable[[Workspace, str], str]] = {
    AnchorKind.FILE: _file_target,
    AnchorKind.GIT: _git_target,
    AnchorKind.WEBHOOK: _webhook_target,
    AnchorKind.TIMESTAMP: _webhook_target,
    AnchorKind.WITNESS: lambda _workspace, target: check_witness(target),
}
SENDERS: dict[str, Callable[[LedgerAnchor, Checkpoint], str]] = {
    AnchorKind.FILE: _to_file,
    AnchorKind.GIT: _to_git,
    AnchorKind.WEBHOOK: _to_webhook,
    AnchorKind.TIMESTAMP: lambda anchor, head: request_timestamp(anchor.target, head),
    AnchorKind.WITNESS: lambda anchor, head: request_cosignature(anchor.target, head),
}
READERS: dict[str, Callable[[LedgerAnchor, Workspace], list[str]]] = {
    AnchorKind.FILE: _from_file,
    AnchorKind.GIT: _from_git,
}
