"""Which open intents own a path, and which live sessions hold them; read once for a whole card."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from controlplane.models import Workspace
from controlplane.policy.model import IntentStatus
from intents.models import Intent
from sessions.approvals.card.command import pattern_for
from sessions.core_values import load_policy
from sessions.models import AgentSession

OPEN = (IntentStatus.PENDING.value, IntentStatus.IN_PROGRESS.value, IntentStatus.BLOCKED.value)


@dataclass(frozen=True, slots=True)
class Owner:
    """An intent whose scope matches one of the asked paths, with the pattern that does."""

    intent_id: str
    name: str
    pattern: str
    sessions: tuple[AgentSession, ...] = ()


@dataclass(frozen=True, slots=True)
class Ownership:
    intents: tuple[Intent, ...]
    sessions: tuple[AgentSession, ...]
    ignore_case: bool

    def owners(self, paths: Iterable[str], *, but: str = "") -> list[Owner]:
        """In the order of the registry, without the intent `but`."""
        wanted = list(paths)
        return [
            owner
            for intent in self.intents
            if intent.intent_id != but and (owner := self._owner(intent, wanted))
        ]

    def _owner(self, intent: Intent, paths: list[str]) -> Owner | None:
        scope = tuple(intent.owned_scope)
        matching = (pattern_for(path, scope, ignore_case=self.ignore_case) for path in paths)
        pattern = next(filter(None, matching), "")
        holders = tuple(session for session in self.sessions if session.intent_id == intent.pk)
        return Owner(intent.intent_id, intent.title, pattern, holders) if pattern else None


def ownership(workspace: Workspace) -> Ownership:
    """2 queries."""
    intents = Intent.objects.filter(workspace=workspace, status__in=OPEN).order_by("position", "pk")
    holding = AgentSession.objects.filter(workspace=workspace, intent__isnull=False)
    alive = holding.not_ended().order_by("-last_seen_at")
    ignore_case = load_policy(workspace).case_insensitive_paths
    return Ownership(tuple(intents), tuple(alive), ignore_case)
