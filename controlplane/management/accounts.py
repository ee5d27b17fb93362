"""Create accounts from the command line, and let them into `/admin/`."""

from __future__ import annotations

import getpass
import sys

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError


def find_or_create_account(username: str, *, name: str = "") -> User:
    """Return the account of a user name, created with the password that is read. Raise CommandError."""
    return User.objects.filter(username=username).first() or _create_account(username, name)


def make_superuser(user: User) -> None:
    user.is_staff = user.is_superuser = True
    user.save(update_fields=["is_staff", "is_superuser"])


def read_password() -> str:
    """Ask for a password on a terminal, else read a line of standard input."""
    return getpass.getpass() if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")


def _create_account(username: str, name: str) -> User:
    user = User(username=username, first_name=name)
    password = read_password()
    try:
        user.full_clean(exclude=["password"])
        validate_password(password, user)
    except ValidationError as error:
        raise CommandError(" ".join(error.messages)) from error
    user.set_password(password)
    user.save()
    return user
