"""Add, change and remove members. Each change writes a ledger entry in the same transaction.

`actor` is the name of the acting person in that entry.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.db import transaction

from controlplane.models import Membership, Role, Token, Workspace
from controlplane.pages.settings.tokens import revoke
from controlplane.shared.errors import ConflictError
from traces.ledger.append import NewEntry, append

if TYPE_CHECKING:
    from collections.abc import Iterator


class MemberError(ConflictError):
    """The workspace's members do not allow this change."""


def add(workspace: Workspace, username: str, role: Role, *, actor: str) -> Membership:
    """Add a user who has an account. Raise MemberError."""
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise MemberError(
            f"There is no account {username!r}. An operator can create it: manage.py add_member."
        )
    with _lock_members(workspace):
        membership, created = Membership.objects.get_or_create(
            workspace=workspace, user=user, defaults={"role": role}
        )
        if not created:
            raise MemberError(f"{username} is already a member, with the role {membership.role}.")
        _record(workspace, "added", membership, actor)
    return membership


def change_role(workspace: Workspace, user_id: int, role: Role, *, actor: str) -> None:
    """Change a member's role. Raise MemberError if the workspace would have no admin."""
    with _lock_members(workspace):
        membership = _find_member(workspace, user_id)
        if membership.role == role:
            return
        if membership.role == Role.ADMIN:
            _require_other_admin(membership)
        membership.role = role
        membership.save(update_fields=["role"])
        _record(workspace, "role changed", membership, actor)


def remove(workspace: Workspace, user_id: int, *, actor: str) -> None:
    """Remove a member and revoke the tokens that act for them. Raise MemberError."""
    with _lock_members(workspace):
        membership = _find_member(workspace, user_id)
        if membership.role == Role.ADMIN:
            _require_other_admin(membership)
        _record(workspace, "removed", membership, actor)
        membership.delete()
        for token in Token.objects.active().acting_for(user_id).filter(workspace=workspace):
            revoke(token, actor=actor)


@contextmanager
def _lock_members(workspace: Workspace) -> Iterator[None]:
    """Lock the workspace, so that two admins cannot remove each other at the same time."""
    with transaction.atomic():
        Workspace.objects.select_for_update().get(pk=workspace.pk)
        yield


def _find_member(workspace: Workspace, user_id: int) -> Membership:
    membership = (
        Membership.objects.select_related("user").filter(workspace=workspace, user_id=user_id).first()
    )
    if membership is None:
        raise MemberError("This person is no longer a member.")
    return membership


def _require_other_admin(membership: Membership) -> None:
    admins = Membership.objects.admins().filter(workspace=membership.workspace_id)
    if not admins.exclude(pk=membership.pk).exists():
        raise MemberError("A workspace needs an admin. Make someone else an admin first.")


def _record(workspace: Workspace, outcome: str, membership: Membership, actor: str) -> None:
    body = {
        "what": "member",
        "user_id": membership.user_id,
        "username": membership.user.get_username(),
        "role": str(membership.role),
    }
    append(NewEntry(workspace_id=workspace.pk, kind="policy", body=body, outcome=outcome, actor=actor))
