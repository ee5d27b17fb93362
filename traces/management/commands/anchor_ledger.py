"""Append the newest signed heads to a file outside the database."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from traces.anchors import anchor
from traces.checkpoints import NoteError
from traces.management.chosen import chosen_workspaces


class Command(BaseCommand):
    help = "Seal what waits and append the signed heads to FILE; run it from time to time."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--file", metavar="FILE", type=Path, required=True, help="made when it is missing"
        )
        parser.add_argument("--workspace", metavar="SLUG", help="only this one (default: all)")

    def handle(self, *, file: Path, workspace: str | None, **_: Any) -> None:
        for one in chosen_workspaces(workspace):
            try:
                size = anchor(one.pk, file)
            except (OSError, NoteError) as error:
                raise CommandError(f"{file} cannot be used: {error}") from error
            word = f"anchored {size} entries" if size else "nothing new"
            self.stdout.write(f"{one.slug}: {word}")
