"""Build values of the policy core from database rows."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from controlplane.models import Workspace
from controlplane.policy.model import IntentStatus, Policy, SelectedIntent
from controlplane.policy.rules import policy_document
from intents.models import Intent as IntentRow


def load_policy(workspace: Workspace) -> Policy:
    """Parse the workspace's policy, once for each of its revisions (0 queries)."""
    return _parse_policy(workspace.pk, workspace.revision, Unhashed(workspace.policy))


def to_core_intent(row: IntentRow) -> SelectedIntent:
    return SelectedIntent(
        intent_id=row.intent_id,
        status=IntentStatus(row.status),
        owned_scope=tuple(row.owned_scope),
        revision=row.version,
        blocked_reason=row.blocked_reason or "",
        constraints=tuple(row.constraints),
        allowed_commands=tuple(row.allowed_commands),
    )


def forget_policies() -> None:
    """Empty the cache, for tests that roll revisions back."""
    _parse_policy.cache_clear()


class Unhashed:
    """Carry a value through `lru_cache` without making it part of the key."""

    def __init__(self, value: dict[str, Any]) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unhashed)

    def __hash__(self) -> int:
        return 0


@lru_cache(maxsize=256)
def _parse_policy(workspace_id: int, revision: int, document: Unhashed) -> Policy:  # noqa: ARG001  the first two are the key
    return policy_document.parse(document.value)
