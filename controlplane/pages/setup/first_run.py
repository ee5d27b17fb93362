"""Make the first account, workspace and intent, all or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction

from controlplane.models import Membership, Role, Token, Workspace
from controlplane.shared.errors import ConflictError
from controlplane.shared.starters import STARTERS, detect_starter
from controlplane.shared.workspaces import create_workspace
from intents import registry
from intents.rules.recommendations import apply_recommendations

FIRST_INTENT = "INT-001"
ACTOR = "setup"


class AlreadySetUpError(ConflictError):
    """Another person was first: there is an account."""

    def __init__(self) -> None:
        super().__init__("This server is set up already. Sign in, or ask its admin to add you.")


@dataclass(frozen=True, slots=True)
class FirstRun:
    """What the page asks for."""

    username: str
    password: str
    workspace: str
    folder: str
    intent: str
    patterns: tuple[str, ...]


def set_up(first: FirstRun) -> tuple[User, Workspace]:
    """Create everything or nothing. Raise AlreadySetUpError, InvalidInputError or InvalidIntentError."""
    with transaction.atomic():
        if User.objects.exists():
            raise AlreadySetUpError
        user = User.objects.create_superuser(first.username, password=first.password)
        workspace = create_workspace(first.workspace, local_root=first.folder).workspace
        # The page shows no tokens: the next one makes what the agent needs.
        Token.objects.filter(workspace=workspace).delete()
        Membership.objects.create(workspace=workspace, user=user, role=Role.ADMIN)
        starter = detect_starter(Path(workspace.local_root)) if workspace.local_root else STARTERS["generic"]
        apply_recommendations(workspace, starter, actor=ACTOR)
        document = {"id": FIRST_INTENT, "name": first.intent, "owned_scope": list(first.patterns)}
        registry.create(workspace, document, actor=ACTOR)
    return user, workspace
