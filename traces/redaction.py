"""Taking a body out of the ledger, with a record of who did it and why.

The envelope and its place in the tree stay, so everything still verifies; what can be read from the
body (files, lines) goes as well.
"""

from __future__ import annotations

from django.db import transaction

from traces.ledger import Appended, NewEntry, append, find
from traces.models import Kind, LedgerBody, LedgerEntry, TraceFile
from traces.verifying import REDACTION


def redact(entry: LedgerEntry, *, reason: str, actor: str) -> Appended | None:
    """Delete the body of `entry`; None when that was done before.

    Raises ValueError for a redaction: it cannot be redacted.
    """
    if entry.kind == Kind.REDACTION:
        raise ValueError("A redaction stays readable: it says who took what out.")
    with transaction.atomic():
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


def redaction_of(entry: LedgerEntry) -> LedgerEntry | None:
    """The record of who took the body of `entry` out; None while it is there. 1 query."""
    return find(entry.workspace_id, _key(entry))


def _key(entry: LedgerEntry) -> str:
    return f"{REDACTION}{entry.pk}"
