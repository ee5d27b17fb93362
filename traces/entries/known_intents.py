"""Load intents from the ledger, where every revision is an entry and the newest one is current.

So maps show names and scopes without the registry, even of intents that were removed from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from traces.ledger.append import read_body
from traces.models import EntryKind, LedgerEntry


@dataclass(frozen=True, slots=True)
class KnownIntent:
    """An intent as its newest revision describes it. Removed intents stay known, since traces cite them."""

    intent_id: str
    name: str = ""
    status: str = ""
    owned_scope: tuple[str, ...] = ()
    removed: bool = False
    description: str = ""


def load_known_intents(workspace_id: int) -> dict[str, KnownIntent]:
    """Return every intent that ever existed, by id, in the order of ids. 2 queries.

    One query for the newest of each would make SQLite scan the complete ledger in the order of intents.
    """
    entries = LedgerEntry.objects.for_workspace(workspace_id).of_kind(EntryKind.INTENT).oldest_first()
    newest = dict(entries.values_list("intent_id", "pk"))
    rows = LedgerEntry.objects.filter(pk__in=newest.values()).with_body()
    intents = [_to_known_intent(row.intent_id, read_body(row) or {}) for row in rows]
    return {intent.intent_id: intent for intent in sorted(intents, key=lambda intent: intent.intent_id)}


def _to_known_intent(intent_id: str, body: dict[str, Any]) -> KnownIntent:
    document = body.get("document") or {}
    return KnownIntent(
        intent_id=intent_id,
        name=str(document.get("name") or ""),
        status=str(document.get("status") or ""),
        owned_scope=tuple(str(pattern) for pattern in _list(document.get("owned_scope"))),
        removed=body.get("action") == "removed",
        description=str(document.get("description") or ""),
    )


def _list(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list) else ()
