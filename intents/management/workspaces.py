"""Find the workspace that a command names."""

from __future__ import annotations

from django.core.management.base import CommandError

from controlplane.models import Workspace


def find_workspace(slug: str) -> Workspace:
    workspace = Workspace.objects.filter(slug=slug).first()
    if workspace is None:
        known = ", ".join(Workspace.objects.values_list("slug", flat=True)) or "none"
        raise CommandError(f"There is no workspace {slug!r}. Known: {known}.")
    return workspace
