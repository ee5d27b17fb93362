"""Redact an entry: delete its body, and record who did it and why.

The envelope and its position in the tree stay, so everything still verifies. Projections of the body (files,
lines, search terms) are deleted with it, and counts no longer name them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from django.db import transaction

from controlplane.shared.masking import to_storable
from traces.errors import RedactionError
from traces.ledger.append import AppendedEntry, NewEntry, append, find_by_key
from traces.models import (
    BodyExcerpt,
    EntryKind,
    LedgerBody,
    LedgerEntry,
    SearchPosting,
    SearchProgress,
    SearchTerm,
    TraceFile,
)

KEY_PREFIX = "redaction:"  # of a redaction's idempotency key, followed by the row id of the redacted entry

_forgetters: list[Callable[[LedgerEntry], None]] = []


def redact(entry: LedgerEntry, *, reason: str, actor: str) -> AppendedEntry | None:
    """Delete the body of `entry`. Return None when it was redacted before.

    Raise `RedactionError` for a redaction, which is never redacted itself.
    """
    if entry.kind == EntryKind.REDACTION:
        raise RedactionError("A redaction stays readable: it says who took what out.")
    with transaction.atomic():
        # Restoring an archive takes the same lock, so a redacted body does not come back.
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
            for forget in _forgetters:
                forget(entry)
            LedgerBody.objects.filter(entry=entry).delete()
            BodyExcerpt.objects.filter(entry=entry).delete()
            TraceFile.objects.filter(entry=entry).delete()
            _remove_from_index(entry)
    return appended


def before_redaction(forget: Callable[[LedgerEntry], None]) -> None:
    """Register what takes an entry out of tables above the ledger, while its rows are still there."""
    if forget not in _forgetters:
        _forgetters.append(forget)


def _remove_from_index(entry: LedgerEntry) -> None:
    """Delete the postings of an entry, and terms that no other entry has: they repeat what it held.

    The lock makes an indexer that has read the body already look again before it writes.
    """
    list(SearchProgress.objects.select_for_update().filter(workspace_id=entry.workspace_id))
    postings = SearchPosting.objects.filter(entry=entry)
    term_ids = list(postings.values_list("term_id", flat=True))
    postings.delete()
    SearchTerm.objects.filter(pk__in=term_ids, postings=None).delete()


def list_redacted_ids(workspace_id: int) -> set[int]:
    """Return the row ids of redacted entries. 1 query."""
    redactions = LedgerEntry.objects.for_workspace(workspace_id).of_kind(EntryKind.REDACTION)
    keys = redactions.values_list("idempotency_key", flat=True)
    return {int(key.removeprefix(KEY_PREFIX)) for key in keys if key and key.startswith(KEY_PREFIX)}


def find_redaction(entry: LedgerEntry) -> LedgerEntry | None:
    """Return the redaction of `entry`; None where there is none. 1 query."""
    return find_by_key(entry.workspace_id, _idempotency_key(entry))


def _idempotency_key(entry: LedgerEntry) -> str:
    return f"{KEY_PREFIX}{entry.pk}"


def find_entries_with_secrets(workspace_id: int) -> Iterator[LedgerEntry]:
    """Yield the entries whose bodies hold what the rules of today would mask. 1 query, one row at a time."""
    entries = LedgerEntry.objects.for_workspace(workspace_id).exclude(kind=EntryKind.REDACTION)
    for entry in entries.filter(body__isnull=False).with_body().order_by("pk").iterator(chunk_size=500):
        body = json.loads(bytes(entry.body.body))
        if to_storable(body) != body:
            yield entry
