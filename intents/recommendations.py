"""Taking over what a starter recommends: added to what a workspace has, nothing of its own replaced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction

from controlplane.models import Workspace
from intents import intentignore
from intents.workspace_policy import change_policy, read_policy

if TYPE_CHECKING:
    from controlplane.shared.starters import Starter


@dataclass(frozen=True, slots=True)
class MissingRecommendations:
    """What a starter recommends and the workspace does not have."""

    ignored: tuple[str, ...]
    protected_paths: tuple[str, ...]
    safe_commands: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.ignored or self.protected_paths or self.safe_commands)


def find_missing(workspace: Workspace, starter: Starter) -> MissingRecommendations:
    policy = read_policy(workspace)
    has = {line.strip() for line in workspace.intentignore.splitlines()}
    rules = [line for line in starter.intentignore.splitlines() if not line.startswith("#")]
    return MissingRecommendations(
        ignored=tuple(line for line in rules if line not in has),
        protected_paths=tuple(path for path in starter.protected if path not in policy["protected_paths"]),
        safe_commands=tuple(one for one in starter.safe_commands if one not in policy["safe_commands"]),
    )


def apply_recommendations(workspace: Workspace, starter: Starter, *, actor: str) -> MissingRecommendations:
    """Add what is missing; what was added. The ledger names the actor."""
    with transaction.atomic():
        held = Workspace.objects.select_for_update().get(pk=workspace.pk)
        found = find_missing(held, starter)
        if found.ignored:
            before = held.intentignore.rstrip("\n")
            intentignore.save(held, "\n".join((*filter(None, [before]), *found.ignored, "")), actor=actor)
        policy = read_policy(held)
        changes = {
            key: [*policy[key], *more]
            for key, more in (
                ("protected_paths", found.protected_paths),
                ("safe_commands", found.safe_commands),
            )
            if more
        }
        if changes:
            change_policy(held, changes, actor=actor)
    return found
