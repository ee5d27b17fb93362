"""List the intents that a session may select, with what keeps it from some of them now."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from django.utils import timezone

from controlplane.policy.model import IntentStatus, Policy
from controlplane.templatetags.names import agent_title
from intents.selectors import list_intent_statuses, list_selectable_intents
from intents.statuses import SELECTABLE_STATUSES
from intents.summaries import IntentSummary, one_line
from sessions.models import AgentSession

EXCLUDED = "excluded by .intentignore"
MAX_NAME_LENGTH = 60


def list_available_intents(
    workspace_id: int, policy: Policy, excluded: Collection[str], *, session: AgentSession | None
) -> list[IntentSummary]:
    """Return the selectable intents in file order without the excluded ones (`find_excluded_intents`).
    The one that a resumed conversation had before comes first.

    `note` says what makes the handshake refuse one now: another session holds it, or its dependencies are not
    met. At most 3 queries.
    """
    holders = _describe_holders(workspace_id, policy, session)
    available = [
        replace(intent, note=holders.get(intent.intent_id, intent.note))
        for intent in list_selectable_intents(workspace_id)
        if intent.intent_id not in excluded
    ]
    previous = session.resumed_from if session is not None else ""
    return sorted(available, key=lambda intent: intent.intent_id != previous) if previous else available


def list_known_ids(
    workspace_id: int, policy: Policy, excluded: Collection[str], *, session: AgentSession | None
) -> list[str]:
    """Return all ids of the registry in file order, each with what makes the handshake refuse it."""
    notes = {
        intent.intent_id: intent.note
        for intent in list_available_intents(workspace_id, policy, excluded, session=session)
    }
    ids = []
    for intent_id, status in list_intent_statuses(workspace_id).items():
        closed = EXCLUDED if IntentStatus(status) in SELECTABLE_STATUSES else status
        note = notes.get(intent_id, closed)
        ids.append(f"{one_line(intent_id)} ({note})" if note else one_line(intent_id))
    return ids


def describe_holder(session_id: str, agent_name: str) -> str:
    # Both are the agent's own words, so they must not add lines to a prompt.
    holder, agent = one_line(session_id, MAX_NAME_LENGTH), one_line(agent_name, MAX_NAME_LENGTH)
    return f"held by session {holder} of {agent_title(agent) if agent else 'an agent'}"


def _describe_holders(workspace_id: int, policy: Policy, session: AgentSession | None) -> dict[str, str]:
    """Map the ids of intents that other live sessions hold to a note. 1 query."""
    if policy.shared_intents == "allow":
        return {}
    live = AgentSession.objects.live(policy, timezone.now())
    holding = live.filter(workspace_id=workspace_id, intent__isnull=False)
    if session is not None and session.pk is not None:
        holding = holding.exclude(pk=session.pk)
    rows = holding.order_by("pk").values_list("intent__intent_id", "session_id", "agent_name")
    return {intent_id: describe_holder(holder, agent) for intent_id, holder, agent in rows}
