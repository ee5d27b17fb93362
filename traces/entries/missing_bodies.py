"""Why an entry's body is not here, and what can be told of it all the same.

A body is redacted (gone for good) or archived (in a file outside the database). What projections keep of an
archived trace entry is enough for an outline: its files and lines, marked as what it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice
from typing import Any

from traces.entry_schema import DELETED, INTENT_TYPE
from traces.ledger.append import body_of
from traces.ledger.redaction import redacted_rows
from traces.models import LET_GO, Kind, LedgerArchive, LedgerEntry, LedgerLeaf, TraceFile

TAKEN_OUT = "The content was taken out of the ledger."
CHUNK = 500


@dataclass(frozen=True, slots=True)
class Absence:
    """`file` and `seq` where an archive holds the body; both empty after a redaction."""

    file: str = ""
    seq: int | None = None

    @property
    def archived(self) -> bool:
        return bool(self.file)

    @property
    def text(self) -> str:
        return f"Archived in {self.file}, entry {self.seq}." if self.file else TAKEN_OUT


REDACTED = Absence()


class Absences:
    """Explains absences of one workspace. 2 queries in all, and none while every body is there."""

    def __init__(self, workspace_id: int) -> None:
        self.workspace_id = workspace_id

    def of(self, entry: LedgerEntry) -> Absence:
        """Why the body of `entry`, which is not here, is not. 0 further queries when its leaf came along."""
        if entry.kind not in LET_GO or entry.pk in self._redacted:
            return REDACTED
        try:
            seq = entry.leaf.seq
        except LedgerLeaf.DoesNotExist:
            return REDACTED
        names = (one.name for one in self._archives if one.first_seq <= seq < one.end_seq)
        name = next(names, "")
        return Absence(name, seq) if name else REDACTED

    @cached_property
    def _archives(self) -> list[LedgerArchive]:
        """The newest first: of several files with the same entries it is the one to ask for."""
        return list(LedgerArchive.objects.filter(workspace_id=self.workspace_id).order_by("-pk"))

    @cached_property
    def _redacted(self) -> set[int]:
        return redacted_rows(self.workspace_id)


def archive_with(entry: LedgerEntry, *, until: datetime) -> str | None:
    """The newest archive with a sealed entry, where it was written before a moment. 2 queries."""
    archives = LedgerArchive.objects.filter(
        workspace_id=entry.workspace_id, first_seq__lte=entry.leaf.seq, end_seq__gt=entry.leaf.seq
    )
    newest = archives.order_by("-pk").first()
    return newest.name if newest and newest.created_at < until else None


@dataclass(frozen=True, slots=True)
class Told:
    """A trace entry for a reader: as recorded, or its outline with an `absence`, or nothing but that."""

    entry: LedgerEntry
    value: dict[str, Any] | None
    absence: Absence | None = None


def told(entries: Iterable[LedgerEntry]) -> Iterator[Told]:
    """Trace entries of one workspace, in order, read in pieces. 3 queries more a piece with archived ones."""
    absences: Absences | None = None
    rest = iter(entries)
    while piece := list(islice(rest, CHUNK)):
        absences = absences or Absences(piece[0].workspace_id)
        yield from _told(piece, absences)


def _told(piece: Sequence[LedgerEntry], absences: Absences) -> Iterator[Told]:
    values = [body_of(entry) for entry in piece]
    gone = {
        entry.pk: absences.of(entry)
        for entry, value in zip(piece, values, strict=True)
        if value is None and entry.kind == Kind.TRACE
    }
    outlined = outlines([entry for entry in piece if entry.pk in gone and gone[entry.pk].archived], gone)
    for entry, value in zip(piece, values, strict=True):
        yield Told(entry, value or outlined.get(entry.pk), gone.get(entry.pk))


def outlines(entries: Sequence[LedgerEntry], gone: dict[int, Absence]) -> dict[int, dict[str, Any]]:
    """What is still known of archived trace entries, in the shape of an entry, by row id. 3 queries."""
    if not entries:
        return {}
    rows = LedgerEntry.objects.filter(pk__in=[entry.pk for entry in entries]).select_related("trace")
    found = rows.prefetch_related("files__ranges")
    return {entry.pk: _outline(entry, gone[entry.pk]) for entry in found}


def _outline(entry: LedgerEntry, absence: Absence) -> dict[str, Any]:
    files: dict[str, list[TraceFile]] = {}
    for file in entry.files.all():
        files.setdefault(file.path, []).append(file)
    said = getattr(entry, "trace", None)
    moment = said.changed_at if said else entry.received_at
    value: dict[str, Any] = {
        "id": entry.entry_id,
        "timestamp": moment.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "vcs": {"revision_id": (said and said.revision_id) or None},
        "files": [
            {"relative_path": path, "conversations": [_talk(same)]} for path, same in sorted(files.items())
        ],
        "archived": {"file": absence.file, "entry": absence.seq},
    }
    if entry.outcome:
        value["mutation_class"] = entry.outcome
    return value


def _talk(same: list[TraceFile]) -> dict[str, Any]:
    """The rows of one file: one for each intent, all with the same lines."""
    lines = list(same[0].ranges.all())
    first = lines[0] if lines else None
    ranges = [
        {
            "start_line": one.start_line,
            "end_line": one.end_line,
            "content_hash": DELETED if same[0].deleted else one.content_hash or None,
        }
        for one in lines
    ]
    return {
        "url": same[0].session_id,
        "contributor": {
            "entity_type": (first and first.contributor) or None,
            "model_identifier": (first and first.model) or None,
        },
        "ranges": ranges,
        "related": [{"type": INTENT_TYPE, "value": one.intent_id} for one in same if one.intent_id],
    }
