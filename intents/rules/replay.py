"""Decide recorded calls again under a proposed scope, ignore file or policy, and find what would change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from controlplane.models import Workspace
from controlplane.policy.model import IntentStatus, SelectedIntent
from controlplane.policy.replay import Replay, RuleSet, replay
from controlplane.policy.rules import policy_document
from intents.models import Intent
from intents.rules.ignore_files import list_ignore_texts
from intents.rules.policy import parse_policy
from traces.entries.recorded_calls import MAX_CALLS, CallSelection, load_recorded_calls

DAYS = 14
MAX_DAYS = 90


@dataclass(frozen=True, slots=True)
class RuleChanges:
    """A proposed change of rules; None leaves a part as it is.

    `owned_scope` maps intent ids to patterns; `policy` holds the keys to set.
    """

    owned_scope: Mapping[str, tuple[str, ...]] | None = None
    intentignore: str | None = None
    policy: Mapping[str, Any] | None = None

    @property
    def only_intent_id(self) -> str:
        """The one intent whose calls the change can touch; "" when it can touch any."""
        scopes = self.owned_scope or {}
        only_scopes = self.intentignore is None and self.policy is None
        return next(iter(scopes)) if only_scopes and len(scopes) == 1 else ""


def replay_recorded_calls(
    workspace: Workspace, changes: RuleChanges, *, days: int = DAYS, limit: int = MAX_CALLS
) -> Replay:
    """Replay the newest `limit` calls of the last `days`.

    4 queries, and on PostgreSQL one more for every 500 calls. Raises PolicyRejectedError.
    """
    current = load_rules(workspace)
    proposed = _apply(changes, current, workspace.policy)
    since = timezone.now() - timedelta(days=days)
    # A scope decides over calls of its own intent only, so other calls need not be read.
    selection = CallSelection(since, changes.only_intent_id, limit)
    calls = load_recorded_calls(
        workspace.pk, selection, roots=_session_roots(workspace, since), local_root=workspace.local_root
    )
    return replay(calls, current, proposed, timezone.now())


def load_rules(workspace: Workspace) -> RuleSet:
    """Return the rules in force. 1 query."""
    intents = map(_to_core, Intent.objects.filter(workspace=workspace))
    by_id = {intent.intent_id: intent for intent in intents}
    return RuleSet(
        policy=policy_document.parse(workspace.policy),
        intentignore=workspace.intentignore,
        ignore_files=list_ignore_texts(workspace.local_root),
        intents=by_id,
    )


def _apply(changes: RuleChanges, current: RuleSet, policy: Mapping[str, Any]) -> RuleSet:
    changed_intents = {
        intent_id: replace(current.intents[intent_id], owned_scope=scope)
        for intent_id, scope in (changes.owned_scope or {}).items()
        if intent_id in current.intents
    }
    return RuleSet(
        policy=parse_policy({**policy, **(changes.policy or {})}),
        intentignore=current.intentignore if changes.intentignore is None else changes.intentignore,
        ignore_files=current.ignore_files,
        intents={**current.intents, **changed_intents},
    )


def _session_roots(workspace: Workspace, since: datetime) -> dict[str, str]:
    """Map the sessions seen since then to their roots. 1 query, over the reverse relation of sessions."""
    rows: Iterable[tuple[str, str]] = Workspace.objects.filter(
        pk=workspace.pk, agent_sessions__last_seen_at__gte=since - timedelta(minutes=1)
    ).values_list("agent_sessions__session_id", "agent_sessions__root")
    return dict(rows)


def _to_core(intent: Intent) -> SelectedIntent:
    return SelectedIntent(
        intent_id=intent.intent_id,
        status=IntentStatus(intent.status),
        owned_scope=tuple(intent.owned_scope),
        revision=intent.version,
        constraints=tuple(intent.constraints),
        allowed_commands=tuple(intent.allowed_commands),
    )
