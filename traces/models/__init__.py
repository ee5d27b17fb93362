"""The tables of the ledger and of what is derived from it."""

from traces.models.anchors import AnchorKind, LedgerAnchor
from traces.models.counts import Counted, EntryCount, FileCount
from traces.models.ledger import (
    LET_GO,
    Checkpoint,
    Kind,
    LedgerArchive,
    LedgerBody,
    LedgerEntry,
    LedgerLeaf,
    LedgerTile,
)
from traces.models.outlets import Outlet
from traces.models.projections import ReconciledSubject, TraceEntry, TraceFile, TraceRange

__all__ = [
    "LET_GO",
    "AnchorKind",
    "Checkpoint",
    "Counted",
    "EntryCount",
    "FileCount",
    "Kind",
    "LedgerAnchor",
    "LedgerArchive",
    "LedgerBody",
    "LedgerEntry",
    "LedgerLeaf",
    "LedgerTile",
    "Outlet",
    "ReconciledSubject",
    "TraceEntry",
    "TraceFile",
    "TraceRange",
]
