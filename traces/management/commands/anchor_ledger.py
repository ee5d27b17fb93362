"""Send the newest signed heads to a file, or to the configured anchors."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from controlplane.models import Workspace
from traces.anchors import continuation
from traces.anchors.anchor_file import anchor_to_file
from traces.anchors.schedule import add_anchor, send_head
from traces.errors import AnchorError
from traces.ledger import proofs
from traces.ledger.checkpoints import NoteError
from traces.ledger.sealing import seal
from traces.management.error_text import describe_error
from traces.management.workspace_argument import select_workspaces
from traces.models import AnchorKind, LedgerAnchor

ACTOR = "command:anchor_ledger"
KEEP_MINUTES = 10


class Command(BaseCommand):
    help = "Seal, then send the newest signed heads to a file or to the configured anchors."

    def add_arguments(self, parser: ArgumentParser) -> None:
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument("--file", metavar="FILE", type=Path, help="created when it is missing")
        where.add_argument(
            "--accept-loss",
            metavar="REASON",
            help="after restoring a backup: record that newer heads outside are lost, and continue",
        )
        where.add_argument("--configured", action="store_true", help="the enabled anchors of the settings")
        parser.add_argument("--workspace", metavar="SLUG", help="only this one (default: all)")
        parser.add_argument(
            "--keep",
            action="store_true",
            help="configure FILE as an anchor, so that the server keeps appending new heads",
        )

    def handle(
        self, *, file: Path | None, workspace: str | None, keep: bool, accept_loss: str | None, **_: Any
    ) -> None:
        if accept_loss is not None:
            self._accept_loss(workspace, accept_loss.strip())
            return
        results = [
            self._to_file(selected, file, keep=keep) if file else self._to_configured(selected)
            for selected in select_workspaces(workspace)
        ]
        if not all(results):
            raise CommandError("Not every anchor received its head.", returncode=1)

    def _accept_loss(self, slug: str | None, reason: str) -> None:
        if slug is None or not reason:
            raise CommandError("Name the ledger with --workspace, and say what happened.")
        [workspace] = select_workspaces(slug)
        try:
            lost = continuation.accept_loss(workspace, reason, actor=ACTOR)
        except (OSError, NoteError, AnchorError) as error:
            raise CommandError(describe_error(error)) from error
        self.stdout.write(f"{slug}: {lost} heads outside are recorded as lost; anchoring continues.")

    def _to_file(self, workspace: Workspace, file: Path, *, keep: bool) -> bool:
        try:
            size = anchor_to_file(workspace.pk, file)
            if keep:
                add_anchor(workspace, AnchorKind.FILE, str(file.absolute()), KEEP_MINUTES, actor=ACTOR)
        except (OSError, NoteError, AnchorError) as error:
            raise CommandError(f"{file} cannot be used: {describe_error(error)}") from error
        message = f"anchored {size} entries" if size else "nothing new"
        self.stdout.write(f"{workspace.slug}: {message}")
        return True

    def _to_configured(self, workspace: Workspace) -> bool:
        seal(workspace.pk)
        head = proofs.find_head(workspace.pk)
        anchors = LedgerAnchor.objects.filter(workspace_id=workspace.pk, enabled=True).order_by("pk")
        results = [send_head(anchor, head) for anchor in anchors] if head else []
        for anchor in anchors.all():
            self.stdout.write(f"{workspace.slug}: {anchor}: {anchor.answer}")
        return all(results)
