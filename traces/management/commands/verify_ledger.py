"""Verify ledgers from the evidence; exit status 1 when anything does not hold."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from controlplane.models import Workspace
from traces.verifying import Report, verify


class Command(BaseCommand):
    help = "Recompute every hash, place and signed head of the ledger. Changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--workspace", metavar="SLUG", help="only this one (default: all)")
        parser.add_argument(
            "--checkpoint", metavar="FILE", type=Path, help="a signed head kept outside (needs --workspace)"
        )

    def handle(self, *, workspace: str | None, checkpoint: Path | None, **_: Any) -> None:
        if checkpoint and not workspace:
            raise CommandError("--checkpoint needs --workspace: a signed head belongs to one ledger.")
        outside = _text_of(checkpoint) if checkpoint else None
        reports = [self._verified(one, outside) for one in _chosen(workspace)]
        if not all(report.ok for report in reports):
            raise CommandError("The ledger does not verify.", returncode=1)

    def _verified(self, workspace: Workspace, outside: str | None) -> Report:
        report = verify(workspace.pk, checkpoint=outside)
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


def _chosen(slug: str | None) -> list[Workspace]:
    chosen = Workspace.objects.filter(slug=slug) if slug else Workspace.objects.all()
    if slug and not chosen:
        raise CommandError(f"There is no workspace {slug!r}.")
    return list(chosen)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read: {error}") from error
