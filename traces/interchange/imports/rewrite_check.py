"""Telling a file that has grown from one whose past was rewritten, against what is stored of it.

Every import keeps, under the name of its source, how many records the file had and one digest over all
of them. A later version that begins with the same records has grown. Any other was rewritten: which
records were altered, removed or moved is found by their ids, and nothing that is stored changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from traces.entries.deduplicate import Beside
from traces.ledger.append import body_of
from traces.models import Kind, LedgerEntry

SOURCE = "agent_trace.jsonl"  # what an import is called that names no source: a workspace has one such file
MAX_SOURCE = 200
MAX_LISTED = 1000
MAX_KEPT = 100  # ids of each sort in the ledger's own record
CHUNK = 2000


@dataclass(slots=True)
class Changed:
    """Ids of records of one sort; the list is cut at `MAX_LISTED`, the count is not."""

    count: int = 0
    ids: list[str] = field(default_factory=list)

    def add(self, entry_id: str) -> None:
        self.count += 1
        if len(self.ids) < MAX_LISTED:
            self.ids.append(entry_id)

    def answer(self, most: int = MAX_LISTED) -> dict[str, Any]:
        return {"count": self.count, "ids": self.ids[:most]}


@dataclass(slots=True)
class Rewrite:
    """`altered`: the same id says something else now; `removed`: stored, but gone from the file."""

    altered: Changed = field(default_factory=Changed)
    removed: Changed = field(default_factory=Changed)
    reordered: Changed = field(default_factory=Changed)

    def answer(self, most: int = MAX_LISTED) -> dict[str, Any]:
        return {
            "altered": self.altered.answer(most),
            "removed": self.removed.answer(most),
            "reordered": self.reordered.answer(most),
        }


def in_words(answer: dict[str, Any]) -> str:
    counts = ", ".join(f"{answer[sort]['count']} {sort}" for sort in ("altered", "removed", "reordered"))
    return f"rewritten history: {counts}"


@dataclass(slots=True)
class History:
    """Follows the records of one file. A file that has grown costs one digest of memory, a rewritten
    one some hundred bytes a record. 1 query to begin with.
    """

    workspace_id: int
    source: str
    ordered: bool = True
    records: int = 0
    altered: Changed = field(default_factory=Changed)
    _told: Any = field(default_factory=hashlib.sha256)
    _last: tuple[int, str] = (0, "")
    _newest: int = 0
    _places: dict[int, int] | None = None

    def __post_init__(self) -> None:
        mine = LedgerEntry.objects.for_workspace(self.workspace_id)
        self._newest = mine.highest_row_id()
        before = mine.filter(kind=Kind.IMPORT, reason=self.source).with_body().newest_first().first()
        body = body_of(before) if before else None
        if body and isinstance(body.get("records"), int) and body["records"]:
            self._last = body["records"], str(body.get("digest"))
            self._places = {} if self.ordered else None

    @property
    def digest(self) -> str:
        return str(self._told.hexdigest())

    def follow(self, ids: Sequence[str], sources: Sequence[bytes]) -> None:
        """Records in the order of the file: their ids, and each as it stood there, in RFC 8785 bytes."""
        if self._places is None:
            self._take(*sources)
            return
        for entry_id, source in zip(ids, sources, strict=True):
            self._take(source)
            if self._places is not None:
                self._places.setdefault(hash(entry_id), self.records)
                if self.records == self._last[0] and self.unchanged:
                    self._places = None

    def _take(self, *sources: bytes) -> None:
        self._told.update(b"".join([source + b"\n" for source in sources]))
        self.records += len(sources)

    @property
    def unchanged(self) -> bool:
        """Whether the file is the one of the last import, to the last record."""
        return self._last == (self.records, self.digest)

    def meet(self, rival: Beside, *, kept: bool) -> None:
        """A record that contradicts a stored one; what the file itself says twice is no rewrite."""
        if rival.row is not None and rival.row <= self._newest and (rival.new or not kept):
            self.altered.add(rival.entry_id)
        if self._places is not None:
            self._places[hash(rival.beside_id)] = self._places.get(hash(rival.entry_id), self.records)

    def altered_only(self) -> Rewrite | None:
        return Rewrite(self.altered) if self.altered.count else None

    def rewrite(self) -> Rewrite | None:
        """What was rewritten; None for a first version and for one that has only grown."""
        if self._places is None:
            return self.altered_only()
        found = Rewrite(self.altered)
        furthest = 0
        for entry_id in self._stored():
            place = self._places.get(hash(entry_id))
            if place is None:
                found.removed.add(entry_id)
            elif place < furthest:
                found.reordered.add(entry_id)
            else:
                furthest = place
        return found

    def _stored(self) -> Iterator[str]:
        mine = (
            LedgerEntry.objects.for_workspace(self.workspace_id)
            .of_kind(Kind.TRACE)
            .filter(reason=self.source, pk__lte=self._newest)
        )
        return mine.order_by("pk").values_list("entry_id", flat=True).iterator(chunk_size=CHUNK)
