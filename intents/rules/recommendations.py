"""Add what a starter recommends to a workspace's rules; none of its own rules is replaced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

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
    effects: Mapping[str, str]
    hosts: tuple[str, ...]
    places: tuple[Mapping[str, str], ...]

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in self.__slots__)


def find_missing(workspace: Workspace, starter: Starter) -> MissingRecommendations:
    policy = read_policy(workspace)
    protected, safe = policy["protected_paths"], policy["safe_commands"]
    present_lines = {line.strip() for line in workspace.intentignore.splitlines()}
    rules = [line for line in starter.intentignore.splitlines() if not line.startswith("#")]
    return MissingRecommendations(
        ignored=tuple(line for line in rules if line not in present_lines),
        protected_paths=tuple(path for path in starter.protected_paths if path not in protected),
        safe_commands=tuple(command for command in starter.safe_commands if command not in safe),
        # Only what the workspace leaves to the product's defaults: its own word on an effect stays.
        effects={
            effect: permission
            for effect, permission in starter.effects.items()
            if effect not in workspace.policy.get("effects", {})
        },
        hosts=tuple(host for host in starter.hosts if host not in policy["hosts"]),
        places=_find_missing_places(starter, policy["places"]),
    )


def apply_recommendations(workspace: Workspace, starter: Starter, *, actor: str) -> MissingRecommendations:
    """Add what is missing, and return it. The ledger records the actor."""
    with transaction.atomic():
        locked = Workspace.objects.select_for_update().get(pk=workspace.pk)
        missing = find_missing(locked, starter)
        if missing.ignored:
            found = locked.intentignore.rstrip("\n")
            text = "\n".join((found, *missing.ignored, "")) if found else starter.intentignore
            intentignore.save_intentignore(locked, text, actor=actor)
        policy = read_policy(locked)
        additions = {
            "protected_paths": missing.protected_paths,
            "safe_commands": missing.safe_commands,
            "hosts": missing.hosts,
            "places": missing.places,
        }
        changes: dict[str, Any] = {key: [*policy[key], *added] for key, added in additions.items() if added}
        if missing.effects:
            changes["effects"] = {**locked.policy.get("effects", {}), **missing.effects}
        if changes:
            change_policy(locked, changes, actor=actor)
    return missing


def _find_missing_places(
    starter: Starter, found: Iterable[Mapping[str, str]]
) -> tuple[Mapping[str, str], ...]:
    """Return the places whose pattern the workspace does not name: its own word on a folder stays."""
    patterns = {place["pattern"] for place in found}
    return tuple(place for place in starter.places if place["pattern"] not in patterns)
