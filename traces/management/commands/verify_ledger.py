"""Verify ledgers from the evidence. Exit status 1 when anything fails."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from controlplane.models import Workspace
from traces.anchors.anchor_file import read_anchor_file
from traces.anchors.schedule import read_anchored_heads
from traces.archives.archive import check_archive
from traces.archives.archive_format import ArchiveError
from traces.ledger.checkpoints import NoteError
from traces.management.error_text import describe_error
from traces.management.workspace_argument import select_workspaces
from traces.verification.report import VerificationReport
from traces.verification.verify import verify

UNKNOWABLE = (
    "No head from outside was compared. This cannot know whether the newest entries were cut off with their "
    "heads, an older backup was restored, the key was replaced, or all was written again: use --checkpoint "
    "or --anchors."
)


class Command(BaseCommand):
    help = "Recompute every hash, position and signed head of the ledger. Changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--workspace", metavar="SLUG", help="only this one (default: all)")
        parser.add_argument(
            "--checkpoint",
            metavar="FILE",
            type=Path,
            help="signed heads kept outside (one, or an anchor file)",
        )

        parser.add_argument(
            "--anchors",
            action="store_true",
            help="compare with the heads in the configured files and git notes",
        )
        parser.add_argument(
            "--archive",
            metavar="FILE",
            type=Path,
            nargs="+",
            default=[],
            help="archives to compare with the ledger (with --workspace)",
        )

    def handle(
        self,
        *,
        workspace: str | None,
        checkpoint: Path | None,
        anchors: bool,
        archive: list[Path],
        **_: Any,
    ) -> None:
        workspaces = select_workspaces(workspace)
        if archive and workspace is None:
            raise CommandError("An archive belongs to one ledger: name it with --workspace.")
        outside = [_read_heads(selected, checkpoint) if checkpoint else [] for selected in workspaces]
        if checkpoint and not any(outside):
            raise CommandError(f"{checkpoint} has no signed head of the ledgers to verify.")
        anchored = [self._read_anchors(selected) for selected in workspaces] if anchors else []
        if anchors:
            outside = [
                heads + anchored_heads for heads, (anchored_heads, _) in zip(outside, anchored, strict=True)
            ]
            if not any(outside):
                raise CommandError(
                    "No file or git note has a head: configure an anchor, or use --checkpoint."
                )
        reports = [self._verify(selected, heads) for selected, heads in zip(workspaces, outside, strict=True)]
        archives_hold = [self._check_archive(workspaces[0], file) for file in archive]
        readable = all(is_readable for _, is_readable in anchored)
        if not all(report.ok for report in reports):
            raise CommandError("The ledger does not verify.", returncode=1)
        if not readable or not all(archives_hold):
            raise CommandError("The ledger holds, but not everything kept outside does.", returncode=1)

    def _verify(self, workspace: Workspace, outside: list[str]) -> VerificationReport:
        report = verify(workspace.pk, outside=outside)
        result = "holds" if report.ok else f"{report.problem_count} problems"
        self.stdout.write(
            f"{workspace.slug}: {result}; {report.checked} sealed, {report.unsealed} waiting, "
            f"{report.redacted} redacted, {report.archived} archived, "
            f"{report.checkpoints} signed heads, root {report.root}"
        )
        for key in report.keys:
            told = "" if key.is_told else "; no change signed by the key before introduces it"
            self.stdout.write(f"  key {key.key_id} signed {key.heads} heads{told}")
        if not report.outside:
            self.stdout.write(f"  {UNKNOWABLE}")
        for problem in report.problems:
            where = f" entry {problem.entry_id}" if problem.entry_id else ""
            position = f" #{problem.seq}" if problem.seq is not None else ""
            self.stdout.write(f"  {problem.kind}{where}{position}: {problem.text}")
        return report

    def _read_anchors(self, workspace: Workspace) -> tuple[list[str], bool]:
        """Return (the heads kept outside, whether every anchor could be read)."""
        heads, errors = read_anchored_heads(workspace)
        for problem in errors:
            self.stdout.write(f"{workspace.slug}: cannot be read back: {problem}")
        return heads, not errors

    def _check_archive(self, workspace: Workspace, file: Path) -> bool:
        try:
            check = check_archive(file, workspace.pk)
        except OSError as error:
            self.stdout.write(f"{file}: cannot be read: {describe_error(error)}")
            return False
        except ArchiveError as error:
            self.stdout.write(f"{file.name}: verification failed: {error}")
            return False
        seal = check.seal
        since = f", {check.redacted_since} redacted since" if check.redacted_since else ""
        self.stdout.write(
            f"{file.name}: holds; entries {seal.first} to {seal.end - 1}, {check.bodies} bodies{since}"
        )
        return True


def _read_heads(workspace: Workspace, path: Path) -> list[str]:
    try:
        return read_anchor_file(path, workspace.pk)
    except (OSError, NoteError) as error:
        raise CommandError(f"{path} cannot be read: {describe_error(error)}") from error
