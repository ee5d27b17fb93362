"""How values become rows and revisions. Every change passes through here, so none goes unrecorded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.db.models import F, Max, QuerySet

from controlplane.models import Workspace
from controlplane.policy.model import IntentStatus
from intents.models import Intent, IntentRevision, RegistryDocument
from intents.values import IntentValues
from traces.ledger import NewEntry, append

LISTS = ("owned_scope", "constraints", "acceptance_criteria", "dependencies", "references")
TEXTS = ("name", "description", "raw_status", "owner", "created_at", "updated_at", "blocked_reason")


@contextmanager
def changing(workspace_id: int, intents: QuerySet[Intent]) -> Iterator[None]:
    """One transaction in which nobody else changes these intents or adds any.

    Locks are taken in one order everywhere: intents by key, then the workspace.
    """
    with transaction.atomic():
        list(intents.select_for_update().order_by("pk").values_list("pk"))
        Workspace.objects.select_for_update().only("pk").get(pk=workspace_id)
        yield


def values_of(row: Intent) -> IntentValues:
    facts: dict[str, Any] = {name: getattr(row, name) for name in TEXTS}
    facts |= {name: tuple(getattr(row, name)) for name in LISTS}
    return IntentValues(
        intent_id=row.intent_id, status=IntentStatus(row.status), extra=dict(row.extra), **facts
    )


def all_values(workspace_id: int) -> list[IntentValues]:
    """The registered intents in the order of the file. 1 query."""
    return [
        values_of(row) for row in Intent.objects.filter(workspace_id=workspace_id).order_by("position", "pk")
    ]


def put(row: Intent, values: IntentValues) -> None:
    """Write the values onto the row; nothing is saved."""
    row.status = values.status.value
    row.extra = dict(values.extra)
    for name in TEXTS:
        setattr(row, name, getattr(values, name))
    for name in LISTS:
        setattr(row, name, list(getattr(values, name)))


def add(workspace_id: int, values: IntentValues, *, actor: str, reason: str) -> Intent:
    """Register an intent behind the others. Numbers go on where an earlier intent of this id ended."""
    last = Intent.objects.filter(workspace_id=workspace_id).aggregate(last=Max("position"))["last"] or 0
    row = Intent(workspace_id=workspace_id, intent_id=values.intent_id, position=last + 1)
    row.version = _last_revision(workspace_id, values.intent_id) + 1
    put(row, values)
    row.save(force_insert=True)
    _record(row, "added", actor, reason)
    return row


def change(row: Intent, values: IntentValues, *, actor: str, reason: str) -> None:
    """Save new values as the next revision. Call inside `changing`, with a row read inside it."""
    put(row, values)
    row.version += 1
    row.save()
    _record(row, "changed", actor, reason)


def remove(row: Intent, *, actor: str, reason: str) -> None:
    """Take an intent out of the registry; its revisions stay, and the last says that it is gone."""
    row.version += 1
    _record(row, "removed", actor, reason)
    row.delete()


def bump(workspace_id: int) -> None:
    """Say that what decisions depend on has changed."""
    Workspace.objects.filter(pk=workspace_id).update(revision=F("revision") + 1)


def now_text() -> str:
    """This moment as documents write it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def stamp_document(workspace_id: int, now: str) -> None:
    """Keep `metadata.last_updated` true where the file has it."""
    document = RegistryDocument.objects.filter(workspace_id=workspace_id).first()
    if document is not None and "last_updated" in document.metadata:
        document.metadata = {**document.metadata, "last_updated": now}
        document.save(update_fields=["metadata"])


def _last_revision(workspace_id: int, intent_id: str) -> int:
    revisions = IntentRevision.objects.filter(workspace_id=workspace_id, intent_id=intent_id)
    return int(revisions.aggregate(last=Max("number"))["last"] or 0)


def _record(row: Intent, action: str, actor: str, reason: str) -> None:
    document = None if action == "removed" else values_of(row).as_document()
    IntentRevision.objects.create(
        workspace_id=row.workspace_id,
        intent_id=row.intent_id,
        number=row.version,
        document=document,
        author=actor[:200],
        reason=reason,
    )
    body = {
        "action": action,
        "intent_id": row.intent_id,
        "revision": row.version,
        "document": document,
        "reason": reason,
    }
    append(
        NewEntry(
            workspace_id=row.workspace_id,
            kind="intent",
            body=body,
            intent_id=row.intent_id,
            outcome=action,
            actor=actor,
        )
    )
    bump(row.workspace_id)
