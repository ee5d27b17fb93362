"""Compare the mutation class that an agent claims with the one computed from the texts.

The result is stored in the ledger's column `reason` of trace entries that were recorded live. Posted and
imported entries cannot set it: their `reason` is a source, which must not be one of these words. Nobody can
forge a computed class, and lists, facets and counts need no further column or query.
"""

from __future__ import annotations

from enum import StrEnum

from django.db.models import BooleanField, Sum
from django.db.models.expressions import RawSQL

from traces.counts.counters import MONTH, list_uncounted
from traces.entry_schema import COMPUTED_CLASS_FIELD
from traces.models import EntryCount, EntryKind, LedgerEntry
from traces.mutation_class import EVOLUTION_CLASS, REFACTOR


class ClassCheck(StrEnum):
    """The result of the check. Without one of the two classes claimed, there is nothing to compare."""

    AGREES = "class_agrees"
    DISAGREES = "class_disagrees"
    REFACTOR = "refactor_unclaimed"
    EVOLUTION = "evolution_unclaimed"


RESERVED_REASONS = frozenset(ClassCheck)
# A literal, not a placeholder: SQLite matches a partial index only where it can see the condition.
CLASS_DISAGREES = RawSQL("reason = 'class_disagrees'", (), BooleanField())
UNCLAIMED = {REFACTOR: ClassCheck.REFACTOR, EVOLUTION_CLASS: ClassCheck.EVOLUTION}
OTHER = {REFACTOR: EVOLUTION_CLASS, EVOLUTION_CLASS: REFACTOR}


def check_claimed_class(claimed: str | None, computed: str | None) -> str:
    """Return the `reason` for the ledger; "" where nothing was computed."""
    if not computed:
        return ""
    claimed_class = (claimed or "").strip().upper()
    if claimed_class not in OTHER:
        return UNCLAIMED[computed]
    return ClassCheck.AGREES if claimed_class == computed else ClassCheck.DISAGREES


def read_computed_class(entry: LedgerEntry) -> str:
    """Return the computed class of a trace entry, "" for none. Archived entries keep it in their columns."""
    if entry.kind != EntryKind.TRACE:
        return ""
    claimed = entry.outcome.strip().upper()
    classes = {
        ClassCheck.AGREES: claimed,
        ClassCheck.DISAGREES: OTHER.get(claimed, ""),
        ClassCheck.REFACTOR: REFACTOR,
        ClassCheck.EVOLUTION: EVOLUTION_CLASS,
    }
    return next((computed for check, computed in classes.items() if check == entry.reason), "")


def has_class_mismatch(entry: LedgerEntry) -> bool:
    return entry.kind == EntryKind.TRACE and entry.reason == ClassCheck.DISAGREES


def describe_class_check(entry: LedgerEntry) -> dict[str, str | bool]:
    """Return the REST fields of the check; {} where nothing was computed."""
    computed = read_computed_class(entry)
    return {COMPUTED_CLASS_FIELD: computed, "class_disagrees": has_class_mismatch(entry)} if computed else {}


def count_class_mismatches(workspace_id: int, intent_id: str) -> int:
    """Count the changes of an intent whose claimed class differs. 5 queries, mostly on stored counts."""
    values = {"kind": EntryKind.TRACE, "intent_id": intent_id, "reason": ClassCheck.DISAGREES.value}
    counted = EntryCount.objects.filter(workspace_id=workspace_id, span=MONTH, **values)
    uncounted = LedgerEntry.objects.filter(pk__in=list_uncounted(workspace_id), **values)
    return (counted.aggregate(sum=Sum("entries"))["sum"] or 0) + uncounted.count()
