"""Compare the subjects that reconciliations are indexed by with their bodies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from traces.entries.reconciliations import list_subjects
from traces.models import EntryKind, LedgerEntry, ReconciledSubject
from traces.verification.registry import ComparedRow, RebuiltRows


def build_subjects_check() -> RebuiltRows:
    """Return the check of `ReconciledSubject`, whose rows follow from the bodies of reconciliations."""
    kinds = frozenset({str(EntryKind.RECONCILIATION)})
    return RebuiltRows(ReconciledSubject._meta.db_table, kinds, _rebuild, _load)


def _rebuild(entry: LedgerEntry, body: dict[str, Any]) -> list[ComparedRow]:
    return sorted((entry.workspace_id, *subject) for subject in list_subjects(body))


def _load(entry_ids: Sequence[int]) -> dict[int, list[ComparedRow]]:
    rows: dict[int, list[ComparedRow]] = defaultdict(list)
    names = ("entry_id", "workspace_id", "subject", "subject_id")
    for entry_id, *row in ReconciledSubject.objects.filter(entry_id__in=entry_ids).values_list(*names):
        rows[entry_id].append(tuple(row))
    return {entry_id: sorted(found) for entry_id, found in rows.items()}
