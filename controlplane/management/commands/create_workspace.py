from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from controlplane.shared.errors import InvalidInputError
from controlplane.shared.starters import STARTERS, Starter, detect_starter
from controlplane.shared.workspaces import create_workspace
from intents.rules.recommendations import apply_recommendations, find_missing

if TYPE_CHECKING:
    from controlplane.models import Workspace


class Command(BaseCommand):
    help = "Create a workspace and one token per role. The tokens are shown only once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="Its name in addresses: lower-case letters, digits and hyphens.")
        parser.add_argument("--name", default="", help="Its name on pages; default: the slug.")
        parser.add_argument(
            "--local-root",
            default="",
            help="The repository's directory on this machine; symlinks and file hashes are read from it.",
        )
        parser.add_argument(
            "--starter",
            default="generic",
            choices=["none", "auto", *STARTERS],
            help=(
                "Recommended settings. By default .intentignore names secrets (.env*, keys) and nothing else"
                " is set; none: not even that; auto: all that fits the files of the local root."
            ),
        )
        parser.add_argument("--json", action="store_true", help="Print one JSON object.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            created = create_workspace(
                options["slug"], name=options["name"], local_root=options["local_root"]
            )
        except InvalidInputError as error:
            raise CommandError(error.error) from error
        chosen = options["starter"]
        if chosen != "none":
            apply_recommendations(
                created.workspace, choose_starter(created.workspace, chosen), actor="command:create_workspace"
            )
        if options["json"]:
            self.stdout.write(json.dumps({"workspace": created.workspace.slug, "tokens": created.tokens}))
            return
        self.stdout.write(f"Workspace {created.workspace.slug} is created. Its tokens, shown only once:")
        for role, token in created.tokens.items():
            self.stdout.write(f"  {role:<9} {token}")
        if chosen in {"none", "generic"}:
            self._recommend(created.workspace)

    def _recommend(self, workspace: Workspace) -> None:
        starter = choose_starter(workspace, "auto")
        missing_settings = find_missing(workspace, starter)
        self.stdout.write(
            f"Recommended for {starter.label}, not set yet; apply it on the settings page (Policy):"
        )
        for name, values in (
            (".intentignore", missing_settings.ignored),
            ("protected_paths", missing_settings.protected_paths),
            ("safe_commands", missing_settings.safe_commands),
        ):
            self.stdout.write(f"  {name:<16}{', '.join(values) or 'nothing more'}")


def choose_starter(workspace: Workspace, kind: str) -> Starter:
    """Return the starter of a kind; `auto` recognises it in the local root, and is generic without one."""
    if kind != "auto":
        return STARTERS[kind]
    return detect_starter(Path(workspace.local_root)) if workspace.local_root else STARTERS["generic"]
