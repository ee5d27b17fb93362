from __future__ import annotations

import getpass
import sys
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

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

    def handle(self, *args: Any, **options: Any) -> None:
        workspace = Workspace.objects.filter(slug=options["workspace"]).first()
        if workspace is None:
            raise CommandError(
                f"There is no workspace {options['workspace']}; create it with create_workspace."
            )
        with transaction.atomic():
            user = User.objects.filter(username=options["username"]).first() or self._create(options)
            self._set_role(workspace, user, Role(options["role"]))
        self.stdout.write(f"{user.username} is {options['role']} in {workspace.slug}.")

    def _set_role(self, workspace: Workspace, user: User, role: Role) -> None:
        try:
            if Membership.objects.filter(workspace=workspace, user=user).exists():
                members.change_role(workspace, user.pk, role, actor=OPERATOR)
            else:
                members.add(workspace, user.username, role, actor=OPERATOR)
        except members.MemberError as error:
            raise CommandError(str(error)) from error

    def _create(self, options: dict[str, Any]) -> User:
        user = User(username=options["username"], first_name=options["name"])
        password = getpass.getpass() if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
        try:
            user.full_clean(exclude=["password"])
            validate_password(password, user)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        user.set_password(password)
        user.save()
        return user
