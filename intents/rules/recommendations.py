"""Add what a starter recommends to a workspace's rules; none of its own rules is replaced."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from controlplane.models import Workspace
from controlplane.shared.starters import Starter
from intents.rules import intentignore
from intents.rules.policy import change_policy, read_policy


@dataclass(frozen=True, slots=True)
class MissingRecommendations:
    """The recommendations of a starter that a workspace does not have. False where there are none."""

    ignored: tuple[str, ...]
    protected_paths: tuple[str, ...]
    safe_commands: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.ignored or self.protected_paths or self.safe_commands)


def find_missing(workspace: Workspace, starter: Starter) -> MissingRecommendations:
    policy = read_policy(workspace)
    protected, safe = policy["protected_paths"], policy["safe_commands"]
    present_lines = {line.strip() for line in workspace.intentignore.splitlines()}
    rules = [line for line in starter.intentignore.splitlines() if not line.startswith("#")]
    return MissingRecommendations(
        ignored=tuple(line for line in rules if line not in present_lines),
        protected_paths=tuple(path for path in starter.protected_paths if path not in protected),
        safe_commands=tuple(command for command in starter.safe_commands if command not in safe),
    )


def apply_recommendations(workspace: Workspace, starter: Starter, *, actor: str) -> MissingRecommendations:
    """Add what is missing, and return it. The ledger records the actor."""
    with transaction.atomic():
        locked = Workspace.objects.select_for_update().get(pk=workspace.pk)
        missing = find_missing(locked, starter)
        if missing.ignored:
            present = locked.intentignore.rstrip("\n")
            text = "\n".join((present, *missing.ignored, "")) if present else starter.intentignore
            intentignore.save_intentignore(locked, text, actor=actor)
        policy = read_policy(locked)
        additions = {"protected_paths": missing.protected_paths, "safe_commands": missing.safe_commands}
        changes = {key: [*policy[key], *added] for key, added in additions.items() if added}
        if changes:
            change_policy(locked, changes, actor=actor)
    return missing
