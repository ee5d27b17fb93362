"""Explain why an entry's body is not in the database: it was redacted, or it is archived.

A redacted body is gone for good; an archived one is in a file outside the database.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from traces.ledger.redaction import list_redacted_ids
from traces.models import ARCHIVABLE_KINDS, LedgerArchive, LedgerEntry, LedgerLeaf

TAKEN_OUT = "The content was taken out of the ledger."


@dataclass(frozen=True, slots=True)
class MissingBody:
    """Where an archived body is: `file` and `seq`. Both are empty after a redaction."""

    file: str = ""
    seq: int | None = None

    @property
    def archived(self) -> bool:
        return bool(self.file)

    @property
    def text(self) -> str:
        return f"Archived in {self.file}, entry {self.seq}." if self.file else TAKEN_OUT


REDACTED = MissingBody()


class MissingBodies:
    """Explain the missing bodies of one workspace. 2 queries in all; none while no body is missing."""

    def __init__(self, workspace_id: int) -> None:
        self.workspace_id = workspace_id

    def explain(self, entry: LedgerEntry) -> MissingBody:
        """Tell whether the missing body of `entry` is redacted or archived. 0 more queries with its leaf."""
        if entry.kind not in ARCHIVABLE_KINDS or entry.pk in self._redacted:
            return REDACTED
        try:
            seq = entry.leaf.seq
        except LedgerLeaf.DoesNotExist:
            return REDACTED
        names = (archive.name for archive in self._archives if archive.first_seq <= seq < archive.end_seq)
        name = next(names, "")
        return MissingBody(name, seq) if name else REDACTED

    @cached_property
    def _archives(self) -> list[LedgerArchive]:
        """Newest first: of several files with the same entries, readers get the newest."""
        return list(LedgerArchive.objects.filter(workspace_id=self.workspace_id).order_by("-pk"))

    @cached_property
    def _redacted(self) -> set[int]:
        return list_redacted_ids(self.workspace_id)


def find_archive(entry: LedgerEntry, *, until: datetime) -> str | None:
    """Return the newest archive with a sealed entry, if it was written before `until`. 2 queries."""
    archives = LedgerArchive.objects.filter(
        workspace_id=entry.workspace_id, first_seq__lte=entry.leaf.seq, end_seq__gt=entry.leaf.seq
    )
    newest = archives.order_by("-pk").first()
    return newest.name if newest and newest.created_at < until else None
