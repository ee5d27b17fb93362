from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from controlplane.server.backup import BackupError, back_up


class Command(BaseCommand):
    help = "Write the database, the keys and the signed heads into a new folder, while the server runs."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="A new one; only its owner can read it.")

    def handle(self, *args: Any, folder: Path, **options: Any) -> None:
        try:
            files = back_up(folder)
        except BackupError as error:
            raise CommandError(str(error)) from error
        for file in files:
            self.stdout.write(f"{file.stat().st_size:>12,} bytes  {file}")
