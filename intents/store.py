"""How values become rows and revisions. Every change passes through here, so none goes unrecorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.db.models import F, Max, QuerySet

from controlplane.models import Workspace
from controlplane.policy.model import IntentStatus
from intents.file_format.values import IntentValues
from intents.models import Intent, IntentRevision, RegistryDocument
from traces.ledger.append import NewEntry, append_many

BATCH = 250  # rows a statement
LISTS = ("owned_scope", "constraints", "acceptance_criteria", "dependencies", "references")
TEXTS = ("name", "description", "raw_status", "owner", "created_at", "updated_at", "blocked_reason")


class RegistryChanges:
    """What one transaction does to the registry of a workspace, for one reason.

    Rows are written at once; their revisions, ledger entries and the new revision of the workspace when the
    transaction ends.
    """

    def __init__(self, workspace_id: int, actor: str, reason: str) -> None:
        self._workspace_id = workspace_id
        self._actor = actor
        self._reason = reason
        self._revisions: list[IntentRevision] = []
        self._entries: list[NewEntry] = []

    def add(self, every: Sequence[IntentValues]) -> list[Intent]:
        """Register intents behind the others. Numbers go on where an earlier intent of an id ended."""
        present = Intent.objects.filter(workspace_id=self._workspace_id)
        place = present.aggregate(last=Max("position"))["last"] or 0
        numbers = self._last_numbers([values.intent_id for values in every])
        rows = []
        for position, values in enumerate(every, place + 1):
            row = Intent(workspace_id=self._workspace_id, intent_id=values.intent_id, position=position)
            row.version = numbers.get(values.intent_id, 0) + 1
            _set_values(row, values)
            rows.append(row)
            self._record(row, "added")
        return Intent.objects.bulk_create(rows, batch_size=BATCH)

    def change(self, row: Intent, values: IntentValues) -> None:
        """Save new values as the next revision; the row was read in this transaction."""
        _set_values(row, values)
        row.version += 1
        row.save()
        self._record(row, "changed")

    def remove(self, row: Intent) -> None:
        """Take an intent out of the registry; its revisions stay, and the last says that it is gone."""
        row.version += 1
        self._record(row, "removed")
        row.delete()

    def finish(self) -> None:
        """Write down what was done. Called by `changing`."""
        if self._revisions:
            IntentRevision.objects.bulk_create(self._revisions, batch_size=BATCH)
            append_many(self._entries)
            bump(self._workspace_id)

    def _last_numbers(self, ids: list[str]) -> dict[str, int]:
        rows = IntentRevision.objects.filter(workspace_id=self._workspace_id, intent_id__in=ids).order_by()
        return dict(rows.values_list("intent_id").annotate(Max("number")))

    def _record(self, row: Intent, action: str) -> None:
        document = None if action == "removed" else to_values(row).to_document()
        self._revisions.append(
            IntentRevision(
                workspace_id=self._workspace_id,
                intent_id=row.intent_id,
                number=row.version,
                document=document,
                author=self._actor[:200],
                reason=self._reason,
            )
        )
        body = {
            "action": action,
            "intent_id": row.intent_id,
            "revision": row.version,
            "document": document,
            "reason": self._reason,
        }
        self._entries.append(
            NewEntry(
                workspace_id=self._workspace_id,
                kind="intent",
                body=body,
                intent_id=row.intent_id,
                outcome=action,
                actor=self._actor,
            )
        )


@contextmanager
def change_registry(
    workspace_id: int, intents: QuerySet[Intent], *, actor: str, reason: str
) -> Iterator[RegistryChanges]:
    """One transaction in which nobody else changes these intents or adds any.

    Locks are taken in one order everywhere: intents by key, then the workspace.
    """
    changes = RegistryChanges(workspace_id, actor, reason)
    with transaction.atomic():
        list(intents.select_for_update().order_by("pk").values_list("pk"))
        Workspace.objects.select_for_update().only("pk").get(pk=workspace_id)
        yield changes
        changes.finish()


def to_values(row: Intent) -> IntentValues:
    facts: dict[str, Any] = {name: getattr(row, name) for name in TEXTS}
    facts |= {name: tuple(getattr(row, name)) for name in LISTS}
    return IntentValues(
        intent_id=row.intent_id, status=IntentStatus(row.status), extra=dict(row.extra), **facts
    )


def list_values(workspace_id: int) -> list[IntentValues]:
    """The registered intents in the order of the file. 1 query."""
    return [
        to_values(row) for row in Intent.objects.filter(workspace_id=workspace_id).order_by("position", "pk")
    ]


def _set_values(row: Intent, values: IntentValues) -> None:
    """Write the values onto the row; nothing is saved."""
    row.status = values.status.value
    row.extra = dict(values.extra)
    for name in TEXTS:
        setattr(row, name, getattr(values, name))
    for name in LISTS:
        setattr(row, name, list(getattr(values, name)))


def bump(workspace_id: int) -> None:
    """Say that what decisions depend on has changed."""
    Workspace.objects.filter(pk=workspace_id).update(revision=F("revision") + 1)


def now_timestamp() -> str:
    """This moment as documents write it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def set_last_updated(workspace_id: int, now: str) -> None:
    """Keep `metadata.last_updated` true where the file has it."""
    document = RegistryDocument.objects.filter(workspace_id=workspace_id).first()
    if document is not None and "last_updated" in document.metadata:
        document.metadata = {**document.metadata, "last_updated": now}
        document.save(update_fields=["metadata"])
