"""Write the active_intents.yaml of a workspace."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from intents.management.workspaces import find_workspace
from intents.registry_file.import_export import export_registry


class Command(BaseCommand):
    help = "Write active_intents.yaml, to standard output unless --output names a file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--workspace", required=True, metavar="SLUG")
        parser.add_argument("--output", metavar="FILE")

    def handle(self, *_: Any, **options: Any) -> None:
        text = export_registry(find_workspace(options["workspace"]))
        if not options["output"]:
            self.stdout.write(text, ending="")
            return
        try:
            Path(options["output"]).write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise CommandError(f"{options['output']} cannot be written: {error.strerror}.") from error
