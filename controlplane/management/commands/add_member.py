from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from controlplane.management.accounts import find_or_create_account, make_superuser
from controlplane.models import Membership, Role, Workspace
from controlplane.pages.settings import members

OPERATOR = "operator"


class Command(BaseCommand):
    help = (
        "Give a person a role in a workspace. An unknown user name is created; its password is asked for, or"
        " read from standard input when that is not a terminal."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("workspace", help="The workspace's slug.")
        parser.add_argument("username")
        parser.add_argument("role", choices=Role.values)
        parser.add_argument("--name", default="", help="How the person is called on pages.")
        parser.add_argument(
            "--superuser",
            action="store_true",
            help="Also let them into /admin/, which shows all workspaces.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        workspace = Workspace.objects.filter(slug=options["workspace"]).first()
        if workspace is None:
            raise CommandError(
                f"There is no workspace {options['workspace']}; create it with create_workspace."
            )
        with transaction.atomic():
            user = find_or_create_account(options["username"], name=options["name"])
            set_role(workspace, user, Role(options["role"]))
            if options["superuser"]:
                make_superuser(user)
        self.stdout.write(f"{user.username} is {options['role']} in {workspace.slug}.")
        if options["superuser"]:
            self.stdout.write(f"{user.username} may enter /admin/.")


def set_role(workspace: Workspace, user: User, role: Role) -> None:
    """Add a member or change the role. Raise CommandError."""
    try:
        if Membership.objects.filter(workspace=workspace, user=user).exists():
            members.change_role(workspace, user.pk, role, actor=OPERATOR)
        else:
            members.add(workspace, user.username, role, actor=OPERATOR)
    except members.MemberError as error:
        raise CommandError(str(error)) from error
