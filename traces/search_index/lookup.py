"""Find entries by what they are about: through the index, and in the bodies of those not indexed yet."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Left
from django.db.models.lookups import IsNull

from traces.ledger.new_leaves import list_entries_from
from traces.models import LedgerEntry, SearchPosting, SearchProgress, SearchTerm, TermKind
from traces.search_index.indexer import IndexedEntry, compute_term_digest, index_entry
from traces.search_index.terms import IndexTerm

MAX_UNINDEXED = 5_000  # normally a second's worth; more only just after an import
MAX_MATCHING_TERMS = 2_000
MAX_APPROVAL_STEPS = 500  # entries of the approvals on a page
MAX_RETURNED_CALLS = 100
MAX_INDEXED_ENTRIES = 10_000  # up to here, going from terms to entries is fast


@dataclass(frozen=True, slots=True)
class TermCondition:
    """Which terms to find: in SQL, and as a predicate for entries that are not indexed yet."""

    condition: Q
    matches: Callable[[IndexTerm], bool]
    annotations: dict[str, Left] = field(default_factory=dict)

    @classmethod
    def from_text(cls, text: str) -> TermCondition:
        """Terms of any kind that contain the text, ignoring case."""
        normalized = text.casefold()
        return cls(Q(text__icontains=text), lambda term: normalized in term.text.casefold())

    @classmethod
    def from_path(cls, path: str) -> TermCondition:
        """A file, or a directory with everything below it."""
        prefix = path.rstrip("/") + "/"
        # startswith would become LIKE, which ignores case on SQLite.
        return cls(
            Q(kind=TermKind.PATH) & (Q(text=path) | Q(head=prefix)),
            lambda term: term.kind is TermKind.PATH and (term.text == path or term.text.startswith(prefix)),
            {"head": Left("text", len(prefix))},
        )

    @classmethod
    def from_file(cls, path: str) -> TermCondition:
        """One file by its exact path, along the index of digests."""
        return cls(
            Q(kind=TermKind.PATH, digest=compute_term_digest(path), text=path),
            lambda term: term == IndexTerm(TermKind.PATH, path),
        )


def find_matching_entries(workspace_id: int, terms: TermCondition) -> list[tuple[Q | IsNull, bool]]:
    """Return (condition on entries, whether it scans), one each for the index and for entries not in it.

    At most 6 queries.
    """
    unindexed = list_unindexed_matches(workspace_id, terms)
    conditions: list[tuple[Q | IsNull, bool]] = [(Q(pk__in=unindexed), False)] if unindexed else []
    term_ids = list(_filter_terms(workspace_id, terms).values_list("pk", flat=True)[: MAX_MATCHING_TERMS + 1])
    postings = SearchPosting.objects.filter(term__in=term_ids)
    if len(term_ids) > MAX_MATCHING_TERMS or _exceeds(postings, MAX_INDEXED_ENTRIES):
        matching = _filter_terms(workspace_id, terms).filter(postings__entry=OuterRef("pk"))
        # Not an EXISTS: PostgreSQL would turn it into a walk through all terms.
        conditions.append((IsNull(Subquery(matching.values("pk")[:1]), False), True))
    elif term_ids:
        conditions.append((Q(pk__in=postings.values("entry_id")), False))
    return conditions


def find_session_mentions(workspace_id: int, text: str) -> Q:
    """Return the condition for entries of one session, which are few enough to look at each. 4 queries."""
    terms = TermCondition.from_text(text)
    postings = SearchPosting.objects.filter(entry=OuterRef("pk"), term__text__icontains=text)
    return Q(Exists(postings)) | Q(pk__in=list_unindexed_matches(workspace_id, terms))


def list_unindexed_matches(workspace_id: int, terms: TermCondition) -> list[int]:
    """Return row ids of matching entries that are not indexed yet. 4 queries."""
    return [entry.entry_id for entry in load_unindexed(workspace_id) if any(map(terms.matches, entry.terms))]


def list_attempts(workspace_id: int, path: str, limit: int) -> list[int]:
    """Return row ids of held and denied calls on a file and of their approvals, newest first. 4 queries."""
    terms = TermCondition.from_file(path)
    unindexed = [
        entry.entry_id
        for entry in load_unindexed(workspace_id)
        if entry.attempt and any(map(terms.matches, entry.terms))
    ]
    term_ids = list(_filter_terms(workspace_id, terms).values_list("pk", flat=True))
    postings = SearchPosting.objects.filter(term__in=term_ids, attempt=True).order_by("-entry")
    indexed = list(postings.values_list("entry_id", flat=True)[:limit]) if term_ids else []
    return sorted({*unindexed, *indexed}, reverse=True)[:limit]


def find_approval_entries(workspace_id: int, approval_ids: Collection[str]) -> list[int]:
    """Return row ids of the calls that approvals were asked for, what was decided, and what came back.

    A grant may cover any number of calls: of those the oldest are returned. 7 queries, none without ids.
    """
    if not approval_ids:
        return []
    digests = [compute_term_digest(approval_id) for approval_id in approval_ids]
    terms = SearchTerm.objects.filter(workspace_id=workspace_id, kind=TermKind.ID, digest__in=digests)
    term_ids = list(terms.values_list("pk", flat=True))
    expected = TermCondition(Q(), lambda term: term.kind is TermKind.ID and term.text in approval_ids)
    numbers = set(list_unindexed_matches(workspace_id, expected))
    for is_attempt, limit in ((True, MAX_APPROVAL_STEPS), (False, MAX_RETURNED_CALLS)):
        postings = SearchPosting.objects.filter(term__in=term_ids, attempt=is_attempt).order_by("entry")
        numbers.update(postings.values_list("entry_id", flat=True)[:limit])
    return sorted(numbers)


def load_unindexed(workspace_id: int) -> list[IndexedEntry]:
    """Return what the index would hold of entries that are not in it yet. 4 queries."""
    progress = SearchProgress.objects.filter(workspace_id=workspace_id)
    first = progress.values_list("leaves", flat=True).first() or 0
    ids = list_entries_from(workspace_id, first, MAX_UNINDEXED)
    rows = LedgerEntry.objects.filter(pk__in=ids, body__isnull=False) if ids else LedgerEntry.objects.none()
    values = rows.values_list("pk", "kind", "outcome", "body__body")
    return [index_entry(row_id, kind, outcome, bytes(body)) for row_id, kind, outcome, body in values]


def _filter_terms(workspace_id: int, terms: TermCondition) -> QuerySet[SearchTerm]:
    return (
        SearchTerm.objects.filter(workspace_id=workspace_id)
        .alias(**terms.annotations)
        .filter(terms.condition)
    )


def _exceeds(postings: QuerySet[SearchPosting], limit: int) -> bool:
    return len(postings.order_by().values_list("pk")[: limit + 1]) > limit
