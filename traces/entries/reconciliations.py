"""Record reconciliations in the ledger, and find the last one about a session or an intent.

The body of an entry of this kind is the complete answer: `base`, `head`, `counts`, `findings`, `explained`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from traces.ledger import canonical_json
from traces.ledger.append import NewEntry, append, find_by_key, read_body
from traces.models import EntryKind, LedgerEntry, ReconciledSubject

MAX_SUBJECTS = 1_000  # sessions and intents that one reconciliation is indexed by
MAX_SHOWN = 20  # findings on a page

SubjectKey = tuple[str, str]  # ("session" | "intent", its id)


@dataclass(frozen=True, slots=True)
class SubjectFindings:
    """The last reconciliation about a session or an intent, as its page shows it.

    `body` is None after a redaction. `findings` are those about the subject, at most `MAX_SHOWN`;
    `more` counts the others.
    """

    entry: LedgerEntry
    body: dict[str, Any] | None
    findings: list[dict[str, Any]]
    more: int


def record_reconciliation(workspace_id: int, body: dict[str, Any], *, actor: str) -> tuple[LedgerEntry, bool]:
    """Record a reconciliation, once for the same range and result. 3 statements.

    Return the entry and whether it is new.
    """
    key = f"reconciliation:{hashlib.sha256(canonical_json.encode(body)).hexdigest()}"
    new = NewEntry(
        workspace_id,
        EntryKind.RECONCILIATION,
        body,
        idempotency_key=key,
        session_id=body["session_id"] or "",
        intent_id=body["intent_id"] or "",
        outcome="findings" if body["findings"] else "explained",
        actor=actor,
    )
    with transaction.atomic():
        appended = append(new)
        if appended is not None:
            rows = [
                ReconciledSubject(
                    entry_id=appended.id, workspace_id=workspace_id, subject=subject, subject_id=subject_id
                )
                for subject, subject_id in list_subjects(body)
            ]
            ReconciledSubject.objects.bulk_create(rows, batch_size=250)
    entry = find_by_key(workspace_id, key)
    assert entry is not None  # appended here, or found by the append
    return entry, appended is not None


def list_subjects(body: Mapping[str, Any]) -> list[SubjectKey]:
    """Return the sessions and intents that a reconciliation names, at most `MAX_SUBJECTS`."""
    items = [body, *body["findings"], *body["explained"]]
    subjects = {
        (subject, item[f"{subject}_id"])
        for item in items
        for subject in ("session", "intent")
        if item[f"{subject}_id"]
    }
    return sorted(subjects)[:MAX_SUBJECTS]


def list_reconciliations(workspace_id: int) -> QuerySet[LedgerEntry]:
    return LedgerEntry.objects.for_workspace(workspace_id).of_kind(EntryKind.RECONCILIATION).with_body()


def find_last_reconciliation(workspace_id: int, subject: str, subject_id: str) -> SubjectFindings | None:
    """Return None where no reconciliation is about the subject. 1 query."""
    rows = ReconciledSubject.objects.filter(
        workspace_id=workspace_id, subject=subject, subject_id=subject_id
    ).select_related("entry__body")
    row = rows.order_by("-pk").first()
    if row is None:
        return None
    body = read_body(row.entry)
    if body is None:
        return SubjectFindings(row.entry, None, [], 0)
    is_requested = body[f"{subject}_id"] == subject_id
    name = f"{subject}_id"
    findings = [finding for finding in body["findings"] if is_requested or finding[name] == subject_id]
    return SubjectFindings(row.entry, body, findings[:MAX_SHOWN], max(0, len(findings) - MAX_SHOWN))
