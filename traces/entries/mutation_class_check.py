"""What the computed class of a change says to the one that its agent claimed.

It stands in the ledger's column `reason` of trace entries that were recorded live, where neither whoever
posts whole entries nor an import can put it (they may not call a source by one of these words). So nobody
makes a computed class up, and lists, facets and counts need no column and no query more.
"""

from __future__ import annotations

from enum import StrEnum

from django.db.models import BooleanField, Sum
from django.db.models.expressions import RawSQL

from traces.counts.counters import MONTH, uncounted
from traces.models import EntryCount, Kind, LedgerEntry
from traces.mutation_class import EVOLUTION, REFACTOR

MAX_FRESH = 10_000
FIELD = "computed_mutation_class"  # of a trace entry, beside the agent's own `mutation_class`


class Check(StrEnum):
    """An agent that claims neither of the two classes claims nothing that could be checked."""

    AGREES = "class_agrees"
    DISAGREES = "class_disagrees"
    REFACTOR = "refactor_unclaimed"
    EVOLUTION = "evolution_unclaimed"


RESERVED = frozenset(Check)
# In words, not by a placeholder: only so SQLite sees that the index of these entries fits.
DISAGREES = RawSQL("reason = 'class_disagrees'", (), BooleanField())
UNCLAIMED = {REFACTOR: Check.REFACTOR, EVOLUTION: Check.EVOLUTION}
OTHER = {REFACTOR: EVOLUTION, EVOLUTION: REFACTOR}


def check_of(claimed: str | None, computed: str | None) -> str:
    """The word for the ledger; "" where nothing was computed."""
    if not computed:
        return ""
    told = (claimed or "").strip().upper()
    if told not in OTHER:
        return UNCLAIMED[computed]
    return Check.AGREES if told == computed else Check.DISAGREES


def computed_class(entry: LedgerEntry) -> str:
    """The computed class of a trace entry, "" for none; from its columns, so archived entries keep it."""
    if entry.kind != Kind.TRACE:
        return ""
    told = entry.outcome.strip().upper()
    classes = {
        Check.AGREES: told,
        Check.DISAGREES: OTHER.get(told, ""),
        Check.REFACTOR: REFACTOR,
        Check.EVOLUTION: EVOLUTION,
    }
    return next((found for check, found in classes.items() if check == entry.reason), "")


def disagrees(entry: LedgerEntry) -> bool:
    return entry.kind == Kind.TRACE and entry.reason == Check.DISAGREES


def checked_class(entry: LedgerEntry) -> dict[str, str | bool]:
    """Both answers by the names that REST gives them, for other systems; {} where nothing was computed."""
    computed = computed_class(entry)
    return {FIELD: computed, "class_disagrees": disagrees(entry)} if computed else {}


def disagreements(workspace_id: int, intent_id: str) -> int:
    """How many changes of an intent are not of the class that was claimed. 5 queries, from kept numbers."""
    values = {"kind": Kind.TRACE, "intent_id": intent_id, "reason": Check.DISAGREES.value}
    kept = EntryCount.objects.filter(workspace_id=workspace_id, span=MONTH, **values)
    fresh = LedgerEntry.objects.filter(pk__in=uncounted(workspace_id, MAX_FRESH), **values)
    return (kept.aggregate(sum=Sum("entries"))["sum"] or 0) + fresh.count()
