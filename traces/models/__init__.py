"""The tables of the ledger and of what is derived from it."""

from traces.models.anchors import AnchorKind, LedgerAnchor
from traces.models.checks import LedgerCheck
from traces.models.counts import Counted, EntryCount, FileCount
from traces.models.ledger import (
    ARCHIVABLE_KINDS,
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

__all__ = [
    "ARCHIVABLE_KINDS",
    "AnchorKind",
    "Checkpoint",
    "Counted",
    "EntryCount",
    "EntryKind",
    "FileCount",
    "LedgerAnchor",
    "LedgerArchive",
    "LedgerBody",
    "LedgerCheck",
    "LedgerEntry",
    "LedgerLeaf",
    "LedgerTile",
    "Outlet",
    "ReconciledSubject",
    "TraceEntry",
    "TraceFile",
    "TraceRange",
]
