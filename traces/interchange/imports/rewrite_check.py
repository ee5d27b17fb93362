"""Detect whether a file has grown or its history was rewritten since the last import.

Every import records, under the name of its source, how many records the file had and a digest of them. A
later version that starts with the same records has grown; any other was rewritten. Ids then tell which
records were altered, removed, moved or put in between. Nothing that is stored changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from traces.entries.deduplicate import ConflictingEntry
from traces.ledger.append import read_body
from traces.models import EntryKind, LedgerEntry

DEFAULT_SOURCE = "agent_trace.jsonl"  # a workspace has one such file
MAX_SOURCE_LENGTH = 200
MAX_IDS = 1000
MAX_RECORDED_IDS = 100  # of each change, in the ledger's own record
CHUNK_SIZE = 2000
CHANGES = ("altered", "removed", "reordered", "inserted")


@dataclass(slots=True)
class ChangedRecords:
    """Ids of changed records; the list is cut at `MAX_LISTED_IDS`, the count is not."""

    count: int = 0
    ids: list[str] = field(default_factory=list)

    def add(self, entry_id: str) -> None:
        self.count += 1
        if len(self.ids) < MAX_IDS:
            self.ids.append(entry_id)

    def to_dict(self, limit: int = MAX_IDS) -> dict[str, Any]:
        return {"count": self.count, "ids": self.ids[:limit]}


@dataclass(slots=True)
class Rewrite:
    """What changed: `altered` ids have other contents now, `removed` ids are gone from the file, `inserted`
    ones are new and stand before records that were there.
    """

    altered: ChangedRecords = field(default_factory=ChangedRecords)
    removed: ChangedRecords = field(default_factory=ChangedRecords)
    reordered: ChangedRecords = field(default_factory=ChangedRecords)
    inserted: ChangedRecords = field(default_factory=ChangedRecords)

    def to_dict(self, limit: int = MAX_IDS) -> dict[str, Any]:
        return {
            "altered": self.altered.to_dict(limit),
            "removed": self.removed.to_dict(limit),
            "reordered": self.reordered.to_dict(limit),
            "inserted": self.inserted.to_dict(limit),
        }


def describe_rewrite(rewrite: dict[str, Any]) -> str:
    counts = ", ".join(f"{rewrite[change]['count']} {change}" for change in CHANGES)
    return f"rewritten history: {counts}"


@dataclass(slots=True)
class RewriteDetector:
    """Compare the records of one file with the last import. 1 query to start.

    A file that has grown costs the memory of one digest, a rewritten one some hundred bytes per record.
    """

    workspace_id: int
    source: str
    ordered: bool = True
    records: int = 0
    altered: ChangedRecords = field(default_factory=ChangedRecords)
    _hasher: Any = field(default_factory=hashlib.sha256)
    _previous: tuple[int, str] = (0, "")
    _newest_row: int = 0
    _positions: dict[int, int] | None = None
    _alternates: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        entries = LedgerEntry.objects.for_workspace(self.workspace_id)
        self._newest_row = entries.highest_row_id()
        last_import = (
            entries.filter(kind=EntryKind.IMPORT, reason=self.source).with_body().newest_first().first()
        )
        body = read_body(last_import) if last_import else None
        if body and isinstance(body.get("records"), int) and body["records"]:
            self._previous = body["records"], str(body.get("digest"))
            self._positions = {} if self.ordered else None

    @property
    def digest(self) -> str:
        return str(self._hasher.hexdigest())

    def add(self, ids: Sequence[str], sources: Sequence[bytes]) -> None:
        """Add records in the order of the file: ids, and each original record in RFC 8785 bytes."""
        if self._positions is None:
            self._hash(*sources)
            return
        for entry_id, source in zip(ids, sources, strict=True):
            self._hash(source)
            if self._positions is not None:
                # A hash instead of the id bounds memory; collisions of 64 bits are negligible.
                self._positions.setdefault(hash(entry_id), self.records)
                if self.records == self._previous[0] and self.is_unchanged:
                    self._positions = None  # the same beginning: the file has only grown

    def _hash(self, *sources: bytes) -> None:
        self._hasher.update(b"".join([source + b"\n" for source in sources]))
        self.records += len(sources)

    @property
    def is_unchanged(self) -> bool:
        """Whether the file so far equals the one of the last import."""
        return self._previous == (self.records, self.digest)

    def add_conflict(self, rival: ConflictingEntry, *, is_stored: bool) -> None:
        """Note a record that contradicts a stored one. A contradiction within the file is not a rewrite."""
        if rival.row is not None and rival.row <= self._newest_row and (rival.new or not is_stored):
            self.altered.add(rival.entry_id)
        if self._positions is not None:
            self._positions[hash(rival.alternate_id)] = self._positions.get(
                hash(rival.entry_id), self.records
            )
            self._alternates.add(hash(rival.alternate_id))

    def to_altered(self) -> Rewrite | None:
        return Rewrite(self.altered) if self.altered.count else None

    def find_rewrite(self) -> Rewrite | None:
        """Return what was rewritten; None for a first version and for one that has only grown."""
        if self._positions is None:
            return self.to_altered()
        rewrite = Rewrite(self.altered)
        last_position = 0
        for entry_id in self._iterate_ids(pk__lte=self._newest_row):
            position = self._positions.get(hash(entry_id))
            if position is None:
                rewrite.removed.add(entry_id)
            elif position < last_position:
                rewrite.reordered.add(entry_id)
            else:
                last_position = position
        for entry_id in self._iterate_ids(pk__gt=self._newest_row):
            key = hash(entry_id)
            if key not in self._alternates and self._positions.get(key, last_position) < last_position:
                rewrite.inserted.add(entry_id)
        return rewrite

    def _iterate_ids(self, **rows: int) -> Iterator[str]:
        """Yield the ids of entries of this source in these rows."""
        entries = (
            LedgerEntry.objects.for_workspace(self.workspace_id)
            .of_kind(EntryKind.TRACE)
            .filter(reason=self.source, **rows)
        )
        return entries.order_by("pk").values_list("entry_id", flat=True).iterator(chunk_size=CHUNK_SIZE)
