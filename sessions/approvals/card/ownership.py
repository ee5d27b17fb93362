"""Find the open intents that own a path and the sessions that hold them, read once per card."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from controlplane.models import Workspace
from controlplane.policy.model import IntentStatus
from intents.models import Intent
from sessions.approvals.card.command import find_matching_pattern
from sessions.core_values import load_policy
from sessions.models import AgentSession

OPEN_STATUSES = (IntentStatus.PENDING.value, IntentStatus.IN_PROGRESS.value, IntentStatus.BLOCKED.value)


@dataclass(frozen=True, slots=True)
class PathOwner:
    """An intent whose scope matches one of the requested paths, and the pattern that matches."""

    intent_id: str
    name: str
    pattern: str
    sessions: tuple[AgentSession, ...] = ()


@dataclass(frozen=True, slots=True)
class Ownership:
    intents: tuple[Intent, ...]
    sessions: tuple[AgentSession, ...]
    ignore_case: bool

    def find_owners(self, paths: Iterable[str], *, excluded_id: str = "") -> list[PathOwner]:
        """Return the owners of any of the paths in registry order, without the intent `excluded_id`."""
        candidates = list(paths)
        return [
            owner
            for intent in self.intents
            if intent.intent_id != excluded_id and (owner := self._build_owner(intent, candidates))
        ]

    def _build_owner(self, intent: Intent, paths: list[str]) -> PathOwner | None:
        scope = tuple(intent.owned_scope)
        matching = (find_matching_pattern(path, scope, ignore_case=self.ignore_case) for path in paths)
        pattern = next(filter(None, matching), "")
        holders = tuple(session for session in self.sessions if session.intent_id == intent.pk)
        return PathOwner(intent.intent_id, intent.title, pattern, holders) if pattern else None


def load_ownership(workspace: Workspace) -> Ownership:
    """Read the open intents and their sessions. 2 queries."""
    intents = Intent.objects.filter(workspace=workspace, status__in=OPEN_STATUSES).order_by("position", "pk")
    holders = AgentSession.objects.filter(workspace=workspace, intent__isnull=False)
    open_sessions = holders.not_ended().order_by("-last_seen_at")
    ignore_case = load_policy(workspace).case_insensitive_paths
    return Ownership(tuple(intents), tuple(open_sessions), ignore_case)
