from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from controlplane.management.accounts import find_or_create_account, make_superuser
from controlplane.management.commands.add_member import set_role
from controlplane.models import Role, Workspace
from controlplane.shared.errors import InvalidInputError
from controlplane.shared.starters import AGENT_STARTERS, SECRETS_STARTER, STARTERS, Starter, detect_starter
from controlplane.shared.workspaces import NewWorkspace, create_workspace
from intents.rules.recommendations import apply_recommendations, find_missing


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
            default="secrets",
            choices=["none", "secrets", "auto", *STARTERS, *AGENT_STARTERS],
            help=(
                "Recommended settings. By default .intentignore names secrets (.env*, keys) and nothing else"
                " is set; none: not even that; auto: all that fits the files of the local root."
            ),
        )
        parser.add_argument(
            "--superuser",
            nargs="?",
            const="admin",
            default="",
            metavar="USERNAME",
            help=(
                "Make this person (default: admin) an admin of the workspace who may enter /admin/. The"
                " password of a new account is asked for, or read from standard input without a terminal."
            ),
        )
        parser.add_argument("--json", action="store_true", help="Print one JSON object.")

    def handle(self, *args: Any, **options: Any) -> None:
        with transaction.atomic():
            created = self._create(options)
        if options["json"]:
            self.stdout.write(json.dumps({"workspace": created.workspace.slug, "tokens": created.tokens}))
            return
        self.stdout.write(f"Workspace {created.workspace.slug} is created. Its tokens, shown only once:")
        for role, token in created.tokens.items():
            self.stdout.write(f"  {role:<9} {token}")
        if options["superuser"]:
            self.stdout.write(f"{options['superuser']} is its admin and may enter /admin/.")
        if options["starter"] in {"none", "secrets"}:
            self._recommend(created.workspace)

    def _create(self, options: dict[str, Any]) -> NewWorkspace:
        try:
            created = create_workspace(
                options["slug"], name=options["name"], local_root=options["local_root"]
            )
        except InvalidInputError as error:
            raise CommandError(error.error) from error
        if options["starter"] != "none":
            starter = choose_starter(created.workspace, options["starter"])
            apply_recommendations(created.workspace, starter, actor="command:create_workspace")
        if options["superuser"]:
            user = find_or_create_account(options["superuser"])
            set_role(created.workspace, user, Role.ADMIN)
            make_superuser(user)
        return created

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
            ("effects", [f"{name}: {word}" for name, word in missing_settings.effects.items()]),
            ("hosts", missing_settings.hosts),
            ("places", [place["pattern"] for place in missing_settings.places]),
        ):
            self.stdout.write(f"  {name:<16}{', '.join(values) or 'nothing more'}")


def choose_starter(workspace: Workspace, kind: str) -> Starter:
    """Return the starter of a kind; `auto` recognises it in the local root, and is generic without one."""
    if kind == "secrets":
        return SECRETS_STARTER
    if kind != "auto":
        return STARTERS.get(kind) or AGENT_STARTERS[kind]
    return detect_starter(Path(workspace.local_root)) if workspace.local_root else STARTERS["generic"]
