"""One intent as its page shows it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from controlplane.policy.model import IntentStatus
from intents import store
from intents.file_format import cross_checks, field_rules
from intents.models import Intent, IntentRevision
from intents.pages.intent_list import list_holders
from intents.pages.text_area_lists import to_lines
from intents.selectors import is_case_insensitive
from intents.statuses import ALLOWED_MOVES
from traces.entries.mutation_class_check import count_class_mismatches
from traces.entries.reconciliations import find_last_reconciliation

REVISIONS_SHOWN = 20
SESSIONS_SHOWN = 10
_LABELS: Mapping[IntentStatus, str] = {
    IntentStatus.IN_PROGRESS: "Start",
    IntentStatus.COMPLETED: "Complete",
    IntentStatus.BLOCKED: "Block…",
    IntentStatus.ABANDONED: "Abandon",
}


def build_detail_context(intent: Intent, *, may_edit: bool) -> dict[str, Any]:
    """What intent_detail.html needs. 11 queries."""
    others = list(Intent.objects.filter(workspace_id=intent.workspace_id).exclude(pk=intent.pk))
    return {
        "intent": build_intent_details(intent, others),
        "moves": list_moves(intent) if may_edit else [],
        "may_edit": may_edit,
        "revisions": list_revisions(intent),
        "sessions": _sessions(intent),
        "overlaps": _overlaps(intent, others),
        "disagreements": count_class_mismatches(intent.workspace_id, intent.intent_id),
        "reconciled": find_last_reconciliation(intent.workspace_id, "intent", intent.intent_id),
    }


def build_intent_details(intent: Intent, others: list[Intent]) -> dict[str, Any]:
    status = {other.intent_id: other.status for other in others}
    needed_by = [other for other in others if intent.intent_id in other.dependencies]
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
        "references": [_shown(reference) for reference in intent.references],
        "extra": [(name, _shown(value)) for name, value in intent.extra.items()],
        "constraints": [_constraint(item) for item in intent.constraints],
        "criteria": [{"text": text, "met": False, "evidence": ""} for text in intent.acceptance_criteria],
        "depends_on": [
            {"id": other, "status": status[other]} for other in intent.dependencies if other in status
        ],
        "needed_by": [{"id": other.intent_id, "status": other.status} for other in needed_by],
        "held_by": list_holders(intent.workspace_id).get(intent.pk),
    }


def build_scope_form(intent: Intent, preview_url: str | None = None) -> dict[str, Any]:
    """What _scope_editor.html needs."""
    return {
        "text": to_lines(intent.owned_scope),
        "version": intent.version,
        "errors": [],
        "preview_url": preview_url,
    }


def list_moves(intent: Intent) -> list[dict[str, Any]]:
    """The buttons for the moves that lead on from here."""
    current = IntentStatus(intent.status)
    labels = {**_LABELS, IntentStatus.IN_PROGRESS: "Resume"} if current is IntentStatus.BLOCKED else _LABELS
    return [
        {"status": target.value, "label": label, "danger": target is IntentStatus.ABANDONED}
        for target, label in labels.items()
        if target in ALLOWED_MOVES[current]
    ]


def list_revisions(intent: Intent) -> list[dict[str, Any]]:
    """The last revisions, newest first, each with what it changed. 1 query."""
    rows = IntentRevision.objects.filter(workspace_id=intent.workspace_id, intent_id=intent.intent_id)
    found = list(rows.order_by("-number")[: REVISIONS_SHOWN + 1])
    pairs = zip(found, [*found[1:], None], strict=True)
    return [
        {"number": row.number, "summary": _summary(row, before), "at": row.created_at, "by": row.author}
        for row, before in list(pairs)[:REVISIONS_SHOWN]
    ]


def _summary(row: IntentRevision, before: IntentRevision | None) -> str:
    if row.document is None:
        what = "Removed"
    elif before is None or before.document is None:
        what = "Registered"
    else:
        what = f"Changed {', '.join(_differing(before.document, row.document)) or 'nothing'}"
    return f"{what}: {row.reason}" if row.reason else what


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return [name.replace("_", " ") for name in names if name != "updated_at"]


def _sessions(intent: Intent) -> list[dict[str, Any]]:
    """Sessions that hold the intent or held it to their end. 1 query, by the relation that sessions made."""
    names = ("session_id", "agent_name", "state", "opened_at")
    rows = (
        Intent.objects.filter(pk=intent.pk)
        .exclude(agent_sessions=None)
        .order_by("-agent_sessions__opened_at")
    )
    found = rows.values_list(*(f"agent_sessions__{name}" for name in names))[:SESSIONS_SHOWN]
    return [{"id": key, "agent": agent, "state": state, "at": at} for key, agent, state, at in found]


def _overlaps(intent: Intent, others: list[Intent]) -> list[dict[str, str]]:
    if intent.status != IntentStatus.IN_PROGRESS:
        return []
    running = [other for other in others if other.status == IntentStatus.IN_PROGRESS]
    values = [store.to_values(row) for row in (intent, *running)]
    ignore_case = is_case_insensitive(intent.workspace_id)
    return [
        {"id": other.intent_id, "name": other.name, "path": path}
        for one, other, path in cross_checks.find_scope_overlaps(values, ignore_case=ignore_case).pairs
        if one.intent_id == intent.intent_id
    ]


def _constraint(item: Any) -> dict[str, str]:
    if not isinstance(item, dict):
        return {"text": str(item), "type": ""}
    rest = {name: value for name, value in item.items() if name != "type"}
    return {"text": _shown(rest), "type": str(item.get("type", ""))}


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
