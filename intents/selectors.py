"""What others may ask about intents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from controlplane.models import Workspace
from controlplane.policy.globs.scope import Scope
from controlplane.policy.model import IntentStatus
from controlplane.policy.rules import policy_document
from intents.models import Intent
from intents.statuses import SELECTABLE_STATUSES
from intents.summaries import MAX_DESCRIPTION_LENGTH, IntentSummary, one_line

_OPEN = (IntentStatus.PENDING, IntentStatus.IN_PROGRESS, IntentStatus.BLOCKED)


def list_selectable_intents(workspace_id: int) -> list[IntentSummary]:
    """The intents that can be selected, in the order of the file. 1 query."""
    rows = Intent.objects.filter(workspace_id=workspace_id, status__in=list(SELECTABLE_STATUSES))
    rows = rows.order_by("position", "pk")
    return [
        IntentSummary(
            intent_id, one_line(name) or intent_id, one_line(description, MAX_DESCRIPTION_LENGTH), status
        )
        for intent_id, name, description, status in rows.values_list(
            "intent_id", "name", "description", "status"
        )
    ]


def list_intent_ids(workspace_id: int) -> list[str]:
    """All ids of the registry, in the order of the file. 1 query."""
    rows = Intent.objects.filter(workspace_id=workspace_id).order_by("position", "pk")
    return list(rows.values_list("intent_id", flat=True))


def find_intent(workspace_id: int, intent_id: str) -> Intent | None:
    """With its workspace. 1 query."""
    found = Intent.objects.select_related("workspace")
    return found.filter(workspace_id=workspace_id, intent_id=intent_id).first()


def list_intent_names(workspace_id: int) -> dict[str, str]:
    """Id to name, in the order of the file. 1 query."""
    rows = Intent.objects.filter(workspace_id=workspace_id).order_by("position", "pk")
    return {row.intent_id: one_line(row.title) for row in rows.only("intent_id", "name")}


def find_unmet_dependencies(intent: Intent) -> list[str]:
    """The intents that must be completed first and are not. 1 query, none without dependencies."""
    if not intent.dependencies:
        return []
    rows = Intent.objects.filter(workspace_id=intent.workspace_id, intent_id__in=intent.dependencies)
    done = set(rows.filter(status=IntentStatus.COMPLETED).values_list("intent_id", flat=True))
    return [intent_id for intent_id in intent.dependencies if intent_id not in done]


def find_owners(workspace_id: int, paths: Iterable[str], *, ignore_case: bool = False) -> list[str]:
    """Ids of open intents whose scope matches one of these canonical paths. 1 query."""
    wanted = list(paths)
    rows = Intent.objects.filter(workspace_id=workspace_id, status__in=_OPEN).order_by("position", "pk")
    return [
        intent_id
        for intent_id, scope in rows.values_list("intent_id", "owned_scope")
        if any(map(Scope.from_patterns(tuple(scope), case_insensitive=ignore_case).matches, wanted))
    ]


def is_case_insensitive(workspace_id: int) -> bool:
    """Whether the policy of a workspace compares paths without case. 1 query."""
    document = Workspace.objects.values_list("policy", flat=True).get(pk=workspace_id)
    return policy_document.parse(document).case_insensitive_paths


def serialize_intent(intent: Intent) -> dict[str, Any]:
    """All fields of an intent, as the handshake and the REST API show them."""
    return {
        "id": intent.intent_id,
        "name": intent.name,
        "description": intent.description,
        "status": intent.status,
        "raw_status": intent.raw_status or intent.status,
        "owner": intent.owner or None,
        "created_at": intent.created_at or None,
        "updated_at": intent.updated_at or None,
        "owned_scope": intent.owned_scope,
        "constraints": intent.constraints,
        "acceptance_criteria": intent.acceptance_criteria,
        "dependencies": intent.dependencies,
        "references": intent.references,
        "blocked_reason": intent.blocked_reason or None,
        "extra": intent.extra,
        "version": intent.version,
    }
