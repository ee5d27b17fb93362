"""The tables of the ledger and of what is derived from it."""

from traces.models.anchors import AnchorKind, Cosignature, HeadTimestamp, LedgerAnchor
from traces.models.checks import LedgerCheck
from traces.models.counts import Counted, EntryCount, FileCount
from traces.models.ledger import (
    ARCHIVABLE_KINDS,
    BodyExcerpt,
    Checkpoint,
    EntryKind,
    LedgerArchive,
    LedgerBody,
    LedgerEntry,
    LedgerLeaf,
    LedgerTile,
)
from traces.models.outlets import Outlet
from traces.models.projections import ReconciledSubject, TraceEntry, TraceFile, TraceRange
from traces.models.search_index import (
    MAX_TERM_LENGTH,
    SearchPosting,
    SearchProgress,
    SearchTerm,
    TermKind,
)

__all__ = [
    "ARCHIVABLE_KINDS",
    "MAX_TERM_LENGTH",
    "AnchorKind",
    "BodyExcerpt",
    "Checkpoint",
    "Cosignature",
    "Counted",
    "EntryCount",
    "EntryKind",
    "FileCount",
    "HeadTimestamp",
    "LedgerAnchor",
    "LedgerArchive",
    "LedgerBody",
    "LedgerCheck",
    "LedgerEntry",
    "LedgerLeaf",
    "LedgerTile",
    "Outlet",
    "ReconciledSubject",
    "SearchPosting",
    "SearchProgress",
    "SearchTerm",
    "TermKind",
    "TraceEntry",
    "TraceFile",
    "TraceRange",
]
