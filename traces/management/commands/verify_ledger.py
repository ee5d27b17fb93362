"""Verify ledgers from the evidence; exit status 1 when anything does not hold."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from controlplane.models import Workspace
from traces.anchors import anchored
from traces.checkpoints import NoteError
from traces.management.chosen import chosen_workspaces
from traces.verifying import Report, verify


class Command(BaseCommand):
    help = "Recompute every hash, place and signed head of the ledger. Changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--workspace", metavar="SLUG", help="only this one (default: all)")
        parser.add_argument(
            "--checkpoint",
            metavar="FILE",
            type=Path,
            help="signed heads kept outside (one, or an anchor file)",
        )

    def handle(self, *, workspace: str | None, checkpoint: Path | None, **_: Any) -> None:
        chosen = chosen_workspaces(workspace)
        outside = [_kept(one, checkpoint) if checkpoint else [] for one in chosen]
        if checkpoint and not any(outside):
            raise CommandError(f"{checkpoint} holds no signed head of the ledgers to verify.")
        reports = [self._verified(one, kept) for one, kept in zip(chosen, outside, strict=True)]
        if not all(report.ok for report in reports):
            raise CommandError("The ledger does not verify.", returncode=1)

    def _verified(self, workspace: Workspace, outside: list[str]) -> Report:
        report = verify(workspace.pk, outside=outside)
        word = "holds" if report.ok else f"{report.problem_count} problems"
        self.stdout.write(
            f"{workspace.slug}: {word}; {report.checked} sealed, {report.unsealed} waiting, "
            f"{report.redacted} redacted, {report.checkpoints} signed heads, root {report.root}"
        )
        for problem in report.problems:
            where = f" entry {problem.entry_id}" if problem.entry_id else ""
            place = f" #{problem.seq}" if problem.seq is not None else ""
            self.stdout.write(f"  {problem.kind}{where}{place}: {problem.text}")
        return report


def _kept(workspace: Workspace, path: Path) -> list[str]:
    try:
        return anchored(path, workspace.pk)
    except (OSError, NoteError) as error:
        raise CommandError(f"{path} cannot be read: {error}") from error
