"""Taking a body out of the ledger, with a record of who did it and why.

The envelope and its place in the tree stay, so everything still verifies; what can be read from the
body (files, lines) goes as well.
"""

from __future__ import annotations

from django.db import transaction

from traces.errors import RedactionError
from traces.ledger.append import Appended, NewEntry, append, find
from traces.models import Kind, LedgerBody, LedgerEntry, TraceFile

REDACTION = "redaction:"  # the idempotency key of a redaction goes on with the row id that it names


def redact(entry: LedgerEntry, *, reason: str, actor: str) -> Appended | None:
    """Delete the body of `entry`; None when that was done before.

    Raise `RedactionError` for a redaction, which is never redacted itself.
    """
    if entry.kind == Kind.REDACTION:
        raise RedactionError("A redaction stays readable: it says who took what out.")
    with transaction.atomic():
        # Whoever restores an archive holds the same lock: a body that is taken out does not come back.
        LedgerEntry.objects.select_for_update().get(pk=entry.pk)
        made = append(
            NewEntry(
                workspace_id=entry.workspace_id,
                kind=Kind.REDACTION,
                body={"entry_id": entry.entry_id, "kind": entry.kind, "reason": reason},
                idempotency_key=_key(entry),
                session_id=entry.session_id,
                intent_id=entry.intent_id,
                reason=reason,
                actor=actor,
            )
        )
        if made:
            LedgerBody.objects.filter(entry=entry).delete()
            TraceFile.objects.filter(entry=entry).delete()
    return made


def redacted_rows(workspace_id: int) -> set[int]:
    """Row ids of the entries whose bodies were taken out. 1 query."""
    keys = LedgerEntry.objects.for_workspace(workspace_id).of_kind(Kind.REDACTION)
    named = keys.values_list("idempotency_key", flat=True)
    return {int(key.removeprefix(REDACTION)) for key in named if key and key.startswith(REDACTION)}


def redaction_of(entry: LedgerEntry) -> LedgerEntry | None:
    """The record of who took the body of `entry` out; None while it is there. 1 query."""
    return find(entry.workspace_id, _key(entry))


def _key(entry: LedgerEntry) -> str:
    return f"{REDACTION}{entry.pk}"
