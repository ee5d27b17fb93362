"""What explains that bodies are missing: redactions, and archives with a valid seal."""

from __future__ import annotations

from dataclasses import dataclass

from traces.ledger.archive_seal import parse_seal
from traces.ledger.log_name import is_log_name
from traces.ledger.redaction import list_redacted_ids
from traces.models import ARCHIVABLE_KINDS, LedgerArchive, LedgerEntry
from traces.verification.report import VerificationReport


@dataclass(frozen=True, slots=True)
class RemovedBodies:
    """What explains missing bodies: row ids that were redacted, ranges [first, end) that are archived."""

    redacted: set[int]
    archived: list[tuple[int, int]]

    def in_archive(self, entry: LedgerEntry, seq: int | None) -> bool:
        return (
            seq is not None
            and entry.kind in ARCHIVABLE_KINDS
            and any(first <= seq < end for first, end in self.archived)
        )


def load_removed_bodies(report: VerificationReport) -> RemovedBodies:
    """Load what explains missing bodies; report archives whose seal is bad. 2 queries."""
    return RemovedBodies(list_redacted_ids(report.workspace_id), _load_archived_ranges(report))


def _load_archived_ranges(report: VerificationReport) -> list[tuple[int, int]]:
    """Return the ranges that archives cover by their signed seals. A row with a bad seal does not count."""
    ranges = []
    for row in LedgerArchive.objects.filter(workspace_id=report.workspace_id).order_by("pk"):
        try:
            seal = parse_seal(row.note)
        except ValueError as error:
            report.add("ARCHIVE_CHANGED", f"the seal of archive {row.name} cannot be read: {error}")
            continue
        if not seal.ours:
            report.add("BAD_SIGNATURE", f"archive {row.name} is sealed by no key of this installation")
        elif not is_log_name(seal.log, row.workspace_id) or (seal.first, seal.end) != (
            row.first_seq,
            row.end_seq,
        ):
            report.add("ARCHIVE_CHANGED", f"archive {row.name} says something else than what was sealed")
        else:
            ranges.append((seal.first, seal.end))
    return _merge_ranges(ranges)


def _merge_ranges(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge adjacent and overlapping ranges: a year of nightly archives becomes one."""
    merged: list[tuple[int, int]] = []
    for first, end in sorted(ranges):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((first, end))
    return merged
