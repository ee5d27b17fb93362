"""Restore the bodies of an archive to the database, or delete them again with --release."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from traces.archives import archive
from traces.archives.archive_format import ArchiveError, ArchiveReader, compute_file_digest
from traces.ledger.log_name import is_log_name
from traces.management.error_text import describe_error
from traces.management.workspace_argument import select_workspaces
from traces.models import LedgerArchive

ACTOR = "command:restore_archive"


class Command(BaseCommand):
    help = "Verify an archive, then restore its missing bodies, except redacted ones."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path)
        parser.add_argument(
            "--release", action="store_true", help="delete the bodies from the database again"
        )

    def handle(self, *, file: Path, release: bool, **_: Any) -> None:
        try:
            workspace_id = _find_workspace_id(file)
            if release:
                self._release(workspace_id, file)
                return
            restored = archive.restore_bodies(file, workspace_id, actor=ACTOR)
        except (OSError, ArchiveError) as error:
            raise CommandError(f"{file} cannot be used: {describe_error(error)}") from error
        self.stdout.write(f"restored {restored} bodies; delete them again with --release")

    def _release(self, workspace_id: int, file: Path) -> None:
        registered = LedgerArchive.objects.filter(
            workspace_id=workspace_id, digest=compute_file_digest(file)
        ).first()
        if registered is None:
            raise ArchiveError("the ledger has no such archive")
        deleted = archive.release_bodies(registered, file, actor=ACTOR)
        self.stdout.write(f"deleted {deleted} bodies")


def _find_workspace_id(file: Path) -> int:
    """Return the id of the workspace that the archive belongs to. Raise ArchiveError, OSError."""
    with ArchiveReader(file) as reader:
        log = reader.header.log
    for workspace in select_workspaces(None):
        if is_log_name(log, workspace.pk):
            return workspace.pk
    raise ArchiveError(f"it is of another ledger, {log}")
