"""Build the context of the page of one intent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from controlplane.policy.model import IntentStatus
from controlplane.policy.rules.constraints import find_problem, find_reason_unchecked
from intents import store
from intents.criteria import list_criteria
from intents.evidence.records import count_met
from intents.file_format import cross_checks, field_rules
from intents.models import Intent, IntentRevision
from intents.pages.intent_list import list_holders
from intents.pages.text_area_lists import to_lines
from intents.selectors import is_case_insensitive
from intents.statuses import ALLOWED_MOVES
from traces.entries.mutation_class_check import count_class_mismatches
from traces.entries.reconciliations import find_last_reconciliation
from traces.ledger.actors import name_actor

MAX_REVISIONS = 20
MAX_SESSIONS = 10
_LABELS: Mapping[IntentStatus, str] = {
    IntentStatus.IN_PROGRESS: "Start",
    IntentStatus.COMPLETED: "Complete",
    IntentStatus.BLOCKED: "Block…",
    IntentStatus.ABANDONED: "Abandon",
}


def build_detail_context(intent: Intent, *, may_edit: bool) -> dict[str, Any]:
    """Return what intent_detail.html needs. 11 queries, 12 where evidence names entries."""
    others = list(Intent.objects.for_workspace(intent.workspace_id).exclude(pk=intent.pk))
    return {
        "intent": build_intent_details(intent, others),
        "moves": list_moves(intent) if may_edit else [],
        "may_edit": may_edit,
        "revisions": list_revisions(intent),
        "sessions": _list_sessions(intent),
        "overlaps": _list_overlaps(intent, others),
        "disagreements": count_class_mismatches(intent.workspace_id, intent.intent_id),
        "reconciled": find_last_reconciliation(intent.workspace_id, "intent", intent.intent_id),
    }


def build_intent_details(intent: Intent, others: list[Intent]) -> dict[str, Any]:
    """`others` are the other intents of the workspace."""
    status = {other.intent_id: other.status for other in others}
    dependents = [other for other in others if intent.intent_id in other.dependencies]
    return {
        "id": intent.intent_id,
        "name": intent.title,
        "description": intent.description,
        "status": intent.status,
        "owner": intent.owner,
        "blocked_reason": intent.blocked_reason,
        "revision": intent.version,
        "created_at": field_rules.parse_timestamp(intent.created_at) or intent.registered_at,
        "updated_at": field_rules.parse_timestamp(intent.updated_at) or intent.changed_at,
        "scope": intent.owned_scope,
        "allowed_commands": intent.allowed_commands,
        "references": [_to_text(reference) for reference in intent.references],
        "extra": [(name, _to_text(value)) for name, value in intent.extra.items()],
        "constraints": [_describe_constraint(item) for item in intent.constraints],
        "criteria": list_criteria(intent),
        "criteria_met": count_met(intent.acceptance_criteria, intent.acceptance_evidence),
        "depends_on": [
            {"id": other, "status": status[other]} for other in intent.dependencies if other in status
        ],
        "needed_by": [{"id": other.intent_id, "status": other.status} for other in dependents],
        "held_by": list_holders(intent.workspace_id).get(intent.pk),
    }


def build_scope_form(intent: Intent, preview_url: str | None = None) -> dict[str, Any]:
    """Return what _scope_editor.html needs."""
    return {
        "text": to_lines(intent.owned_scope),
        "version": intent.version,
        "errors": [],
        "preview_url": preview_url,
    }


def list_moves(intent: Intent) -> list[dict[str, Any]]:
    """Return the buttons for the allowed moves from the current status."""
    current = IntentStatus(intent.status)
    labels = {**_LABELS, IntentStatus.IN_PROGRESS: "Resume"} if current is IntentStatus.BLOCKED else _LABELS
    return [
        {"status": target.value, "label": label, "danger": target is IntentStatus.ABANDONED}
        for target, label in labels.items()
        if target in ALLOWED_MOVES[current]
    ]


def list_revisions(intent: Intent) -> list[dict[str, Any]]:
    """Return the last revisions, newest first, each with what it changed. 1 query."""
    rows = IntentRevision.objects.filter(workspace_id=intent.workspace_id, intent_id=intent.intent_id)
    # One more than displayed: the last displayed one is summarized by its difference to that.
    newest = list(rows.order_by("-number")[: MAX_REVISIONS + 1])
    pairs = zip(newest, [*newest[1:], None], strict=True)
    return [
        {
            "number": row.number,
            "summary": _summarize(row, before),
            "at": row.created_at,
            "by": name_actor(row.author),
        }
        for row, before in list(pairs)[:MAX_REVISIONS]
    ]


def _summarize(row: IntentRevision, before: IntentRevision | None) -> str:
    if row.document is None:
        summary = "Removed"
    elif before is None or before.document is None:
        summary = "Registered"
    else:
        summary = f"Changed {', '.join(_diff_names(before.document, row.document)) or 'nothing'}"
    return f"{summary}: {row.reason}" if row.reason else summary


def _diff_names(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return [name.replace("_", " ") for name in names if name != "updated_at"]


def _list_sessions(intent: Intent) -> list[dict[str, Any]]:
    """Return sessions that hold the intent or held it when they ended, newest first.

    1 query over the reverse relation: this app must not import sessions.
    """
    rows = (
        Intent.objects.filter(pk=intent.pk)
        .exclude(agent_sessions=None)
        .order_by("-agent_sessions__opened_at")
    )
    names = ("session_id", "agent_name", "state", "opened_at")
    columns = rows.values_list(*(f"agent_sessions__{name}" for name in names))[:MAX_SESSIONS]
    return [{"id": key, "agent": agent, "state": state, "at": at} for key, agent, state, at in columns]


def _list_overlaps(intent: Intent, others: list[Intent]) -> list[dict[str, str]]:
    if intent.status != IntentStatus.IN_PROGRESS:
        return []
    in_progress = [other for other in others if other.status == IntentStatus.IN_PROGRESS]
    values = [store.to_values(row) for row in (intent, *in_progress)]
    ignore_case = is_case_insensitive(intent.workspace_id)
    return [
        {"id": second.intent_id, "name": second.name, "path": path}
        for first, second, path in cross_checks.find_scope_overlaps(values, ignore_case=ignore_case).pairs
        if first.intent_id == intent.intent_id
    ]


def _describe_constraint(item: Any) -> dict[str, str]:
    """`warning` says why the gate does not check, or cannot check, a constraint with a type."""
    if not isinstance(item, dict):
        return {"text": str(item), "type": "", "warning": ""}
    rest = {name: value for name, value in item.items() if name != "type"}
    warning = find_reason_unchecked(item)
    if warning is None and (problem := find_problem(item)):
        warning = f"Cannot be checked, so the gate denies every write to its files: {problem}"
    return {"text": _to_text(rest), "type": str(item.get("type", "")), "warning": warning or ""}


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
