"""Taking a body out of the ledger, with a record of who did it and why.

The envelope and its place in the tree stay, so everything still verifies; what can be read from the
body (files, lines) goes as well.
"""

from __future__ import annotations

from django.db import transaction

from traces.errors import RedactionError
from traces.ledger.append import AppendedEntry, NewEntry, append, find_by_key
from traces.models import EntryKind, LedgerBody, LedgerEntry, TraceFile

KEY_PREFIX = "redaction:"  # the idempotency key of a redaction goes on with the row id that it names


def redact(entry: LedgerEntry, *, reason: str, actor: str) -> AppendedEntry | None:
    """Delete the body of `entry`; None when that was done before.

    Raise `RedactionError` for a redaction, which is never redacted itself.
    """
    if entry.kind == EntryKind.REDACTION:
        raise RedactionError("A redaction stays readable: it says who took what out.")
    with transaction.atomic():
        # Whoever restores an archive holds the same lock: a body that is taken out does not come back.
        LedgerEntry.objects.select_for_update().get(pk=entry.pk)
        appended = append(
            NewEntry(
                workspace_id=entry.workspace_id,
                kind=EntryKind.REDACTION,
                body={"entry_id": entry.entry_id, "kind": entry.kind, "reason": reason},
                idempotency_key=_idempotency_key(entry),
                session_id=entry.session_id,
                intent_id=entry.intent_id,
                reason=reason,
                actor=actor,
            )
        )
        if appended:
            LedgerBody.objects.filter(entry=entry).delete()
            TraceFile.objects.filter(entry=entry).delete()
    return appended


def list_redacted_ids(workspace_id: int) -> set[int]:
    """Row ids of the entries whose bodies were taken out. 1 query."""
    redactions = LedgerEntry.objects.for_workspace(workspace_id).of_kind(EntryKind.REDACTION)
    keys = redactions.values_list("idempotency_key", flat=True)
    return {int(key.removeprefix(KEY_PREFIX)) for key in keys if key and key.startswith(KEY_PREFIX)}


def find_redaction(entry: LedgerEntry) -> LedgerEntry | None:
    """The record of who took the body of `entry` out; None while it is there. 1 query."""
    return find_by_key(entry.workspace_id, _idempotency_key(entry))


def _idempotency_key(entry: LedgerEntry) -> str:
    return f"{KEY_PREFIX}{entry.pk}"
