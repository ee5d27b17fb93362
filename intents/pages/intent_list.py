"""The list of intents as its page shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max

from controlplane.policy.model import IntentStatus
from intents import store
from intents.file_format import cross_checks
from intents.file_format.values import IntentValues
from intents.models import STATUS_CHOICES, Intent
from intents.proposals import find_proposer
from intents.selectors import is_case_insensitive
from traces.models import TraceFile


@dataclass(frozen=True, slots=True)
class IntentFilters:
    """What the address asks for; "" is everything."""

    q: str = ""
    status: str = ""
    owner: str = ""

    def matches(self, intent: Intent) -> bool:
        words = self.q.casefold()
        texts = (intent.intent_id, intent.name, *intent.owned_scope)
        return (
            (not self.status or intent.status == self.status)
            and (not self.owner or intent.owner == self.owner)
            and (not words or any(words in text.casefold() for text in texts))
        )


def build_list_context(workspace_id: int, filters: IntentFilters) -> dict[str, Any]:
    """What intent_list.html needs. 4 queries, whatever the number of intents."""
    intents = list(Intent.objects.filter(workspace_id=workspace_id).order_by("position", "pk"))
    values = [store.to_values(intent) for intent in intents]
    overlaps = group_overlaps(values, ignore_case=is_case_insensitive(workspace_id))
    status = {intent.intent_id: intent.status for intent in intents}
    holders, work = list_holders(workspace_id), _work_of(workspace_id)
    rows = []
    for intent in filter(filters.matches, intents):
        facts = _row(intent, holders.get(intent.pk), work.get(intent.intent_id, {}))
        unmet = [other for other in intent.dependencies if status.get(other) != IntentStatus.COMPLETED]
        rows.append(facts | {"overlaps": overlaps.get(intent.intent_id, []), "unmet": unmet})
    return {
        "intents": rows,
        "total": len(intents),
        "in_progress": sum(intent.status == IntentStatus.IN_PROGRESS for intent in intents),
        "overlaps": sum(map(len, overlaps.values())) // 2,
        "filters": filters,
        "statuses": _statuses(intents),
        "owner_tokens": [{"name": "owner", "value": filters.owner}] if filters.owner else [],
    }


def group_overlaps(intents: Iterable[IntentValues], *, ignore_case: bool) -> dict[str, list[str]]:
    """Id to the ids of intents in progress that own some path of it too."""
    running = [values for values in intents if values.status is IntentStatus.IN_PROGRESS]
    found: dict[str, list[str]] = {}
    for one, other, _ in cross_checks.find_scope_overlaps(running, ignore_case=ignore_case).pairs:
        found.setdefault(one.intent_id, []).append(other.intent_id)
        found.setdefault(other.intent_id, []).append(one.intent_id)
    return found


def list_holders(workspace_id: int) -> dict[int, dict[str, Any]]:
    """Primary key of an intent to the session that holds it. 1 query, by the relation that sessions made."""
    rows = Intent.objects.filter(workspace_id=workspace_id, agent_sessions__ended_at=None)
    found = rows.exclude(agent_sessions=None).order_by("agent_sessions__last_seen_at")
    columns = ("pk", "agent_sessions__agent_name", "agent_sessions__session_id", "agent_sessions__opened_at")
    return {
        pk: {"agent": agent, "session_id": session_id, "since": since}
        for pk, agent, session_id, since in found.values_list(*columns)
    }


def _row(intent: Intent, holder: dict[str, Any] | None, work: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": intent.intent_id,
        "name": intent.title,
        "status": intent.status,
        "scope": intent.owned_scope,
        "files": work.get("files"),
        "held_by": holder,
        "owner": intent.owner,
        "proposed_by": find_proposer(intent),
        "criteria_met": 0,
        "criteria": len(intent.acceptance_criteria),
        "writes": work.get("writes"),
        "last_activity": work.get("last") or intent.changed_at,
    }


def _work_of(workspace_id: int) -> dict[str, dict[str, Any]]:
    """Intent id to what was changed under it. 1 query."""
    files = TraceFile.objects.filter(workspace_id=workspace_id).exclude(intent_id="")
    rows = files.values("intent_id").order_by().annotate(
        files=Count("path", distinct=True), writes=Count("pk"), last=Max("changed_at")
    )  # fmt: skip
    return {row["intent_id"]: dict(row) for row in rows}


def _statuses(intents: list[Intent]) -> list[dict[str, Any]]:
    counts = Counter(intent.status for intent in intents)
    known = [{"value": value, "label": label, "count": counts[value]} for value, label in STATUS_CHOICES]
    return [{"value": "", "label": "All", "count": len(intents)}, *known]
