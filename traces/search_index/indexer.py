"""Maintain the search index: follow the leaves of the ledger, and rebuild a workspace's rows from the bodies.

Indexing comes after sealing, so that no append waits for it. Readers add what is not indexed yet
(`traces.search_index.lookup`).
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction

from controlplane.shared.database.sqlite_lock import write_transaction
from traces.ledger.insert_rows import RowValues, insert_rows
from traces.models import LedgerBody, LedgerLeaf, SearchPosting, SearchProgress, SearchTerm, TermKind
from traces.search_index.terms import IndexTerm, extract_terms, is_attempt

log = logging.getLogger(__name__)

BATCH_SIZE = 500
LOOKUP_SIZE = 500  # digests a query
_KEEP_EXISTING = "ON CONFLICT DO NOTHING"
# Explicit columns: a migration runs this while later columns are not there yet.
_LEAF_COLUMNS = ("seq", "entry_id", "entry__kind", "entry__outcome", "entry__body__body")


@dataclass(frozen=True, slots=True)
class IndexedEntry:
    """What the index holds of one entry."""

    entry_id: int
    terms: tuple[IndexTerm, ...]
    attempt: bool


def index_sealed(workspace_id: int) -> int:
    """Index the leaves that are not indexed yet and return their number.

    2 queries for none, about 8 for `BATCH_SIZE` of them.
    """
    indexed = 0
    while (batch := _index_batch(workspace_id)) > 0:
        indexed += batch
    return indexed


def rebuild_search_index(workspace_id: int) -> int:
    """Rebuild the index of a workspace from the bodies. Return the number of leaves read.

    Rows of archived entries stay, since their bodies are not in the database.
    """
    with transaction.atomic():
        SearchProgress.objects.filter(workspace_id=workspace_id).delete()
        postings = SearchPosting.objects.filter(term__workspace_id=workspace_id)
        postings.filter(entry__body__isnull=False).delete()
        SearchTerm.objects.filter(workspace_id=workspace_id, postings=None).delete()
    return index_sealed(workspace_id)


def index_entry(entry_id: int, kind: str, outcome: str, body: bytes) -> IndexedEntry:
    """Compute what the index holds of an entry, from its stored body."""
    return IndexedEntry(entry_id, extract_terms(kind, json.loads(body)), is_attempt(kind, outcome))


def compute_term_digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:16]


def _index_batch(workspace_id: int) -> int:
    first = _find_progress(workspace_id)
    leaves = LedgerLeaf.objects.filter(workspace_id=workspace_id, seq__gte=first).order_by("seq")
    rows = list(leaves.values_list(*_LEAF_COLUMNS)[:BATCH_SIZE])
    if not rows:
        return 0
    # Parsed before the transaction: on SQLite it makes every other writer wait.
    entries = [
        index_entry(entry_id, kind, outcome, bytes(body))
        for _, entry_id, kind, outcome, body in rows
        if body is not None
    ]
    with write_transaction():
        SearchProgress.objects.get_or_create(workspace_id=workspace_id)
        progress = SearchProgress.objects.select_for_update().get(workspace_id=workspace_id)
        if progress.leaves != first:
            return 0  # another process indexed them
        _write(workspace_id, _without_redacted(entries))
        progress.leaves = rows[-1][0] + 1
        progress.save(update_fields=["leaves"])
    return len(rows)


def _find_progress(workspace_id: int) -> int:
    progress = SearchProgress.objects.filter(workspace_id=workspace_id)
    return progress.values_list("leaves", flat=True).first() or 0


def _without_redacted(entries: list[IndexedEntry]) -> list[IndexedEntry]:
    """Leave out entries whose body went meanwhile: a redaction takes the same lock before it removes rows."""
    ids = [entry.entry_id for entry in entries]
    found = set(LedgerBody.objects.filter(pk__in=ids).values_list("pk", flat=True))
    return [entry for entry in entries if entry.entry_id in found]


def _write(workspace_id: int, entries: Iterable[IndexedEntry]) -> None:
    entries = list(entries)
    digests = {term: compute_term_digest(term.text) for entry in entries for term in entry.terms}
    terms: list[RowValues] = [
        {"workspace_id": workspace_id, "kind": term.kind.value, "digest": digest, "text": term.text}
        for term, digest in digests.items()
    ]
    insert_rows(SearchTerm, terms, on_conflict=_KEEP_EXISTING)
    ids = _find_term_ids(workspace_id, sorted(set(digests.values())))
    postings: list[RowValues] = [
        {
            "term_id": ids[term.kind.value, digests[term]],
            "entry_id": entry.entry_id,
            "attempt": entry.attempt,
        }
        for entry in entries
        for term in entry.terms
    ]
    insert_rows(SearchPosting, postings, on_conflict=_KEEP_EXISTING)


def _find_term_ids(workspace_id: int, digests: list[bytes]) -> dict[tuple[str, bytes], int]:
    ids: dict[tuple[str, bytes], int] = {}
    for start in range(0, len(digests), LOOKUP_SIZE):
        rows = SearchTerm.objects.filter(
            workspace_id=workspace_id,
            kind__in=TermKind.values,
            digest__in=digests[start : start + LOOKUP_SIZE],
        )
        ids |= {
            (kind, bytes(digest)): row_id for kind, digest, row_id in rows.values_list("kind", "digest", "pk")
        }
    return ids
