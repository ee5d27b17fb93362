from __future__ import annotations

import json
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from controlplane.workspaces import create_workspace


class Command(BaseCommand):
    help = "Make a workspace and one token a role. The tokens are printed once and kept nowhere."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="Its name in addresses: lower-case letters, digits and hyphens.")
        parser.add_argument("--name", default="", help="Its name on pages; default: the slug.")
        parser.add_argument(
            "--local-root",
            default="",
            help="The folder of the repository on this machine: symlinks and hashes are then read from it.",
        )
        parser.add_argument("--json", action="store_true", help="Print one JSON object.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            made = create_workspace(options["slug"], name=options["name"], local_root=options["local_root"])
        except ValidationError as error:
            problems = "; ".join(f"{field}: {' '.join(texts)}" for field, texts in error.message_dict.items())
            raise CommandError(problems) from error
        if options["json"]:
            self.stdout.write(json.dumps({"workspace": made.workspace.slug, "tokens": made.tokens}))
            return
        self.stdout.write(f"Workspace {made.workspace.slug} is made. Its tokens, shown this once:")
        for role, token in made.tokens.items():
            self.stdout.write(f"  {role:<9} {token}")
