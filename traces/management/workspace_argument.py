"""The workspace argument of commands."""

from __future__ import annotations

from django.core.management.base import CommandError

from controlplane.models import Workspace


def select_workspaces(slug: str | None) -> list[Workspace]:
    """Return the workspace with this slug, or all. Raise CommandError for an unknown slug."""
    workspaces = Workspace.objects.filter(slug=slug) if slug else Workspace.objects.order_by("slug")
    if slug and not workspaces:
        raise CommandError(f"There is no workspace {slug!r}.")
    return list(workspaces)
