"""Write intents to the database, each change with its revision, ledger entry and workspace revision.

Nothing else writes `Intent` rows, so that no change stays unrecorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.db.models import Max, QuerySet

from controlplane.models import Workspace
from controlplane.policy.model import IntentStatus
from intents.file_format.values import IntentValues
from intents.models import Intent, IntentRevision, RegistryDocument
from traces.ledger.append import NewEntry, append_many

BATCH_SIZE = 250  # rows per INSERT
LIST_FIELDS = (
    "owned_scope",
    "constraints",
    "acceptance_criteria",
    "acceptance_evidence",
    "dependencies",
    "references",
    "allowed_commands",
)
TEXT_FIELDS = ("name", "description", "raw_status", "owner", "created_at", "updated_at", "blocked_reason")


class RegistryChanges:
    """The changes that one transaction makes to the registry of a workspace, for one reason.

    Rows are written at once; revisions, ledger entries and the new revision of the workspace in `finish`.
    """

    def __init__(self, workspace_id: int, actor: str, reason: str) -> None:
        self._workspace_id = workspace_id
        self._actor = actor
        self._reason = reason
        self._revisions: list[IntentRevision] = []
        self._entries: list[NewEntry] = []

    def add(self, new_values: Sequence[IntentValues]) -> list[Intent]:
        """Register intents after the present ones.

        An id that was removed earlier goes on with its old revision numbers: they are unique per id.
        """
        found = Intent.objects.for_workspace(self._workspace_id)
        last_position = found.aggregate(last=Max("position"))["last"] or 0
        last_numbers = self._last_revision_numbers([values.intent_id for values in new_values])
        intents = []
        for position, values in enumerate(new_values, last_position + 1):
            intent = Intent(workspace_id=self._workspace_id, intent_id=values.intent_id, position=position)
            intent.version = last_numbers.get(values.intent_id, 0)
            _set_values(intent, values)
            self._record(intent, "added")
            intents.append(intent)
        return Intent.objects.bulk_create(intents, batch_size=BATCH_SIZE)

    def change(self, intent: Intent, values: IntentValues) -> None:
        """Save new values as the next revision. The row must have been read in this transaction."""
        _set_values(intent, values)
        self._record(intent, "changed")
        intent.save()

    def remove(self, intent: Intent) -> None:
        """Delete an intent. Its revisions stay; the last one, without a document, marks the removal."""
        self._record(intent, "removed")
        intent.delete()

    def finish(self) -> None:
        """Write what was collected. `change_registry` calls it."""
        if self._revisions:
            IntentRevision.objects.bulk_create(self._revisions, batch_size=BATCH_SIZE)
            append_many(self._entries)
            Workspace.objects.filter(pk=self._workspace_id).apply_change()

    def _last_revision_numbers(self, intent_ids: list[str]) -> dict[str, int]:
        revisions = IntentRevision.objects.filter(workspace_id=self._workspace_id, intent_id__in=intent_ids)
        return dict(revisions.order_by().values_list("intent_id").annotate(Max("number")))

    def _record(self, intent: Intent, action: str) -> None:
        intent.version += 1
        document = None if action == "removed" else to_values(intent).to_document()
        self._revisions.append(
            IntentRevision(
                workspace_id=self._workspace_id,
                intent_id=intent.intent_id,
                number=intent.version,
                document=document,
                author=self._actor[:200],
                reason=self._reason,
            )
        )
        body = {
            "action": action,
            "intent_id": intent.intent_id,
            "revision": intent.version,
            "document": document,
            "reason": self._reason,
        }
        self._entries.append(
            NewEntry(
                workspace_id=self._workspace_id,
                kind="intent",
                body=body,
                intent_id=intent.intent_id,
                outcome=action,
                actor=self._actor,
            )
        )


@contextmanager
def change_registry(
    workspace_id: int, intents: QuerySet[Intent], *, actor: str, reason: str
) -> Iterator[RegistryChanges]:
    """Open a transaction in which nobody else changes these intents or adds any to the workspace."""
    changes = RegistryChanges(workspace_id, actor, reason)
    with transaction.atomic():
        # Every writer locks in this order, intents by key and then the workspace: two orders could deadlock.
        list(intents.select_for_update().order_by("pk").values_list("pk"))
        # The lock on the workspace keeps others from inserting intents, which no row lock could.
        Workspace.objects.select_for_update().only("pk").get(pk=workspace_id)
        yield changes
        changes.finish()


def to_values(intent: Intent) -> IntentValues:
    fields: dict[str, Any] = {name: getattr(intent, name) for name in TEXT_FIELDS}
    fields |= {name: tuple(getattr(intent, name)) for name in LIST_FIELDS}
    return IntentValues(
        intent_id=intent.intent_id, status=IntentStatus(intent.status), extra=dict(intent.extra), **fields
    )


def list_values(workspace_id: int) -> list[IntentValues]:
    """Return the registered intents in file order. 1 query."""
    return [to_values(intent) for intent in Intent.objects.for_workspace(workspace_id).in_file_order()]


def _set_values(intent: Intent, values: IntentValues) -> None:
    intent.status = values.status.value
    intent.extra = dict(values.extra)
    for name in TEXT_FIELDS:
        setattr(intent, name, getattr(values, name))
    for name in LIST_FIELDS:
        setattr(intent, name, list(getattr(values, name)))


def now_timestamp() -> str:
    """Return the current time as documents write it: ISO 8601, UTC, whole seconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def set_last_updated(workspace_id: int, timestamp: str) -> None:
    """Update `metadata.last_updated` of the registry file, where it has one."""
    document = RegistryDocument.objects.filter(workspace_id=workspace_id).first()
    if document is not None and "last_updated" in document.metadata:
        document.metadata = {**document.metadata, "last_updated": timestamp}
        document.save(update_fields=["metadata"])
