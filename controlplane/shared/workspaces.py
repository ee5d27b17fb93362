"""Making workspaces."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.core.exceptions import ValidationError
from django.db import transaction

from controlplane.models import TokenRole, Workspace
from controlplane.shared.tokens import create_token


@dataclass(frozen=True, slots=True)
class NewWorkspace:
    workspace: Workspace
    tokens: dict[str, str]  # role -> the token's text, readable this once


def create_workspace(slug: str, *, name: str = "", local_root: str = "") -> NewWorkspace:
    """A workspace and one token a role. Raises `ValidationError` that says what to write instead."""
    root = _local_root(local_root)
    workspace = Workspace(slug=slug, name=name or slug, local_root=root)
    workspace.full_clean()
    with transaction.atomic():
        workspace.save()
        tokens = {
            role.value: create_token(workspace, role.value, f"first {role.value}")[1] for role in TokenRole
        }
    return NewWorkspace(workspace, tokens)


def _local_root(text: str) -> str:
    if not text:
        return ""
    path = Path(text).absolute()
    if path == Path("/"):
        raise ValidationError({"local_root": "The whole machine cannot be a workspace."})
    if path.exists() and not path.is_dir():
        raise ValidationError({"local_root": f"{path} is not a folder."})
    return str(path)
