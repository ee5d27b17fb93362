"""What a proposed scope, ignore file or policy would have answered to the calls of the last days."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from controlplane.models import Workspace
from controlplane.policy.model import Intent as CoreIntent
from controlplane.policy.model import IntentStatus
from controlplane.policy.replay import Replay, RuleSet, replay
from controlplane.policy.rules import policy_document
from intents.models import Intent
from traces.entries.recorded_calls import MAX_CALLS, Selection, recorded_calls

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DAYS = 14
MAX_DAYS = 90


@dataclass(frozen=True, slots=True)
class Proposal:
    """What would be changed; None leaves a part as it is. `owned_scope` is by intent id, `policy` sets
    keys."""

    owned_scope: Mapping[str, tuple[str, ...]] | None = None
    intentignore: str | None = None
    policy: Mapping[str, Any] | None = None

    @property
    def one_intent(self) -> str:
        """The only intent whose calls can be touched, "" when any may be."""
        scopes = self.owned_scope or {}
        only_scopes = self.intentignore is None and self.policy is None
        return next(iter(scopes)) if only_scopes and len(scopes) == 1 else ""


def replay_proposal(
    workspace: Workspace, proposal: Proposal, *, days: int = DAYS, most: int = MAX_CALLS
) -> Replay:
    """4 queries, and on PostgreSQL one more each 500 calls. Raises InvalidPolicyError.

    A scope decides over calls of its own intent only, so no others are looked at for it.
    """
    today = terms_of(workspace)
    proposed = _proposed(today, workspace.policy, proposal)
    since = timezone.now() - timedelta(days=days)
    selection = Selection(since, proposal.one_intent, most)
    calls = recorded_calls(
        workspace.pk, selection, roots=_roots(workspace, since), local_root=workspace.local_root
    )
    return replay(calls, today, proposed, timezone.now())


def terms_of(workspace: Workspace) -> RuleSet:
    """What holds now. 1 query."""
    intents = (_core(intent) for intent in Intent.objects.filter(workspace=workspace))
    by_id = {intent.intent_id: intent for intent in intents}
    return RuleSet(policy_document.parse(workspace.policy), workspace.intentignore, by_id)


def _proposed(today: RuleSet, policy: Mapping[str, Any], proposal: Proposal) -> RuleSet:
    widened = {
        intent_id: replace(today.intents[intent_id], owned_scope=scope)
        for intent_id, scope in (proposal.owned_scope or {}).items()
        if intent_id in today.intents
    }
    return RuleSet(
        policy=policy_document.parse({**policy, **(proposal.policy or {})}),
        intentignore=today.intentignore if proposal.intentignore is None else proposal.intentignore,
        intents={**today.intents, **widened},
    )


def _roots(workspace: Workspace, since: datetime) -> dict[str, str]:
    """Folders of the sessions that were heard of since. 1 query, by the relation that sessions made."""
    rows: Iterable[tuple[str, str]] = Workspace.objects.filter(
        pk=workspace.pk, agent_sessions__last_seen_at__gte=since - timedelta(minutes=1)
    ).values_list("agent_sessions__session_id", "agent_sessions__root")
    return dict(rows)


def _core(intent: Intent) -> CoreIntent:
    return CoreIntent(
        intent_id=intent.intent_id,
        status=IntentStatus(intent.status),
        owned_scope=tuple(intent.owned_scope),
        revision=intent.version,
        constraints=tuple(intent.constraints),
    )
