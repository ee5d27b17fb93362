"""Read intents: one by its id, lists for prompts and pages, owners of paths."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from controlplane.models import Workspace
from controlplane.policy.globs.scope import Scope
from controlplane.policy.rules import policy_document
from intents.models import Intent
from intents.summaries import MAX_DESCRIPTION_LENGTH, IntentSummary, one_line


def list_selectable_intents(workspace_id: int) -> list[IntentSummary]:
    """Return the intents in a status that an agent may select, in file order.

    `note` names dependencies that are not completed. 1 query, 2 where an intent has dependencies.
    """
    selectable = Intent.objects.for_workspace(workspace_id).selectable().in_file_order()
    rows = list(selectable.only("intent_id", "name", "description", "status", "dependencies"))
    needed = {intent_id for row in rows for intent_id in row.dependencies}
    completed: set[str] = set()
    if needed:
        dependencies = Intent.objects.for_workspace(workspace_id).completed().filter(intent_id__in=needed)
        completed = set(dependencies.values_list("intent_id", flat=True))
    return [
        IntentSummary(
            row.intent_id,
            one_line(row.name) or row.intent_id,
            one_line(row.description, MAX_DESCRIPTION_LENGTH),
            row.status,
            describe_unmet([each for each in row.dependencies if each not in completed]),
        )
        for row in rows
    ]


def describe_unmet(dependencies: list[str]) -> str:
    """Return the note of an intent that waits for others; "" for none."""
    return f"waits for {', '.join(map(one_line, dependencies))} to be completed" if dependencies else ""


def list_intent_ids(workspace_id: int) -> list[str]:
    """Return all ids of the registry in file order. 1 query."""
    rows = Intent.objects.for_workspace(workspace_id).in_file_order()
    return list(rows.values_list("intent_id", flat=True))


def list_intent_statuses(workspace_id: int) -> dict[str, str]:
    """Map ids to statuses, in file order. 1 query."""
    rows = Intent.objects.for_workspace(workspace_id).in_file_order()
    return dict(rows.values_list("intent_id", "status"))


def list_intent_names(workspace_id: int) -> dict[str, str]:
    """Map ids to one-line names, in file order. 1 query."""
    rows = Intent.objects.for_workspace(workspace_id).in_file_order().only("intent_id", "name")
    return {intent.intent_id: one_line(intent.title) for intent in rows}


def find_intent(workspace_id: int, intent_id: str) -> Intent | None:
    """Return the intent with its workspace, or None. 1 query."""
    rows = Intent.objects.select_related("workspace").for_workspace(workspace_id)
    return rows.filter(intent_id=intent_id).first()


def find_unmet_dependencies(intent: Intent) -> list[str]:
    """Return the ids of dependencies that are not completed. 1 query, none without dependencies."""
    if not intent.dependencies:
        return []
    rows = Intent.objects.for_workspace(intent.workspace_id).filter(intent_id__in=intent.dependencies)
    completed = set(rows.completed().values_list("intent_id", flat=True))
    return [intent_id for intent_id in intent.dependencies if intent_id not in completed]


def find_owners(workspace_id: int, paths: Iterable[str], *, ignore_case: bool = False) -> list[str]:
    """Return ids of open intents whose scope matches one of these canonical paths. 1 query."""
    paths = list(paths)
    rows = Intent.objects.for_workspace(workspace_id).open().in_file_order()
    return [
        intent_id
        for intent_id, scope in rows.values_list("intent_id", "owned_scope")
        if any(map(Scope.from_patterns(tuple(scope), case_insensitive=ignore_case).matches, paths))
    ]


def is_case_insensitive(workspace_id: int) -> bool:
    """Return whether the policy of a workspace compares paths without case. 1 query."""
    document = Workspace.objects.values_list("policy", flat=True).get(pk=workspace_id)
    return policy_document.parse(document).case_insensitive_paths


def serialize_intent(intent: Intent) -> dict[str, Any]:
    """Return all fields of an intent, as the handshake and REST answer them."""
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
        "acceptance_evidence": intent.acceptance_evidence,
        "dependencies": intent.dependencies,
        "references": intent.references,
        "allowed_commands": intent.allowed_commands,
        "blocked_reason": intent.blocked_reason or None,
        "extra": intent.extra,
        "version": intent.version,
    }
