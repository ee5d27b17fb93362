"""Create workspaces."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.core.exceptions import ValidationError
from django.db import transaction

from controlplane.models import TokenRole, Workspace
from controlplane.shared.errors import InvalidInputError
from controlplane.shared.tokens import create_token


@dataclass(frozen=True, slots=True)
class NewWorkspace:
    workspace: Workspace
    tokens: dict[str, str]  # role -> text of the token, which is stored nowhere


def create_workspace(slug: str, *, name: str = "", local_root: str = "") -> NewWorkspace:
    """Create a workspace and one token per role. Raises InvalidInputError."""
    workspace = Workspace(slug=slug, name=name or slug, local_root=_resolve_local_root(local_root))
    try:
        workspace.full_clean()
    except ValidationError as error:
        messages = (f"{field}: {' '.join(texts)}" for field, texts in error.message_dict.items())
        raise InvalidInputError("; ".join(messages)) from error
    with transaction.atomic():
        workspace.save()
        tokens = {
            role.value: create_token(workspace, role.value, f"first {role.value}")[1] for role in TokenRole
        }
    return NewWorkspace(workspace, tokens)


def _resolve_local_root(text: str) -> str:
    if not text:
        return ""
    path = Path(text).absolute()
    if path == Path("/"):
        raise InvalidInputError("local_root: The root of the file system cannot be a workspace.")
    if not path.is_dir():
        problem = "is not a directory" if path.exists() else "does not exist"
        raise InvalidInputError(f"local_root: {path} {problem}.")
    return str(path)
