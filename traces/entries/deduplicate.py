"""Tell which submitted entries are new, duplicates, or in conflict with recorded ones."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from django.db import connection

from traces.entry_schema import MAX_ID_LENGTH, ParsedEntry, find_field_errors, parse_entry
from traces.ledger import canonical_json
from traces.models import EntryKind, LedgerBody, LedgerEntry

RECORDED_BODIES = f"""
    SELECT entry.id, entry.entry_id, body.body FROM {LedgerEntry._meta.db_table} entry
    LEFT JOIN {LedgerBody._meta.db_table} body ON body.entry_id = entry.id
    WHERE entry.workspace_id = %s AND entry.kind = %s AND entry.entry_id IN ({{ids}})
"""  # noqa: S608 - names of tables


class ComparableEntry(Protocol):
    """What deduplication needs of an entry. `value` may be costly to parse, and is rarely needed."""

    @property
    def entry_id(self) -> str: ...
    @property
    def value(self) -> dict[str, Any]: ...
    @property
    def line(self) -> int | None: ...
    def to_canonical_bytes(self) -> bytes: ...


class SubmittedEntry(NamedTuple):
    """An entry of a request or file, and the line on which it begins there (from 1).

    `encoded` holds the canonical bytes of `value`, `parsed` its fields, where they are known already.
    """

    value: dict[str, Any]
    line: int | None = None
    encoded: bytes | None = None
    parsed: ParsedEntry | None = None

    @property
    def entry_id(self) -> str:
        return str(self.value["id"])

    def to_canonical_bytes(self) -> bytes:
        return self.encoded or canonical_json.encode(self.value)

    def parse(self) -> ParsedEntry:
        """Parse an entry that has no field errors."""
        return self.parsed or parse_entry(self.value)


@dataclass(frozen=True, slots=True)
class EntryError:
    type: str
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class ConflictingEntry:
    """An entry with the id, but not the content, of ledger row `row` (None: of an entry of the same batch).

    It can be stored under `alternate_id`, which is made from its content; `new` when it just was.
    """

    submitted: ComparableEntry
    alternate_id: str
    row: int | None
    new: bool = False

    @property
    def entry_id(self) -> str:
        return self.submitted.entry_id

    def to_error(self) -> EntryError:
        return EntryError(
            "DUPLICATE_ID", f"{self.entry_id} was recorded with other content", self.submitted.line
        )

    def to_renamed(self) -> SubmittedEntry:
        """Return the entry under its alternate id, with the original inside."""
        value = self.submitted.value
        original = value.get("original")
        changes = {"id": self.alternate_id, "original": original if isinstance(original, dict) else value}
        return SubmittedEntry(value | changes, self.submitted.line)


def validate_fields(submitted: SubmittedEntry) -> list[EntryError]:
    """Return the field errors of one entry."""
    return [
        EntryError("INVALID_FIELD", f"{path} {text}", submitted.line)
        for path, text in find_field_errors(submitted.value)
    ]


EntryT = TypeVar("EntryT", bound=ComparableEntry)


def classify_entries(
    workspace_id: int, batch: Sequence[EntryT]
) -> tuple[list[EntryT], int, list[ConflictingEntry]]:
    """Return (new entries, number of duplicates, conflicting entries). 1 query."""
    ids = [entry.entry_id for entry in batch]
    recorded = load_recorded_bodies(workspace_id, ids) if ids else {}
    if not recorded and len(set(ids)) == len(ids):
        return list(batch), 0, []
    new: dict[str, EntryT] = {}
    conflicts: list[ConflictingEntry] = []
    duplicates = 0
    for entry_id, entry in zip(ids, batch, strict=True):
        if entry_id not in recorded and entry_id not in new:
            new[entry_id] = entry
            continue
        row, before = recorded.get(entry_id, (None, b""))
        if entry_id in new:
            before = new[entry_id].to_canonical_bytes()
        if before is None or before == entry.to_canonical_bytes() or _is_repair(before, entry.value):
            duplicates += 1
        else:
            conflicts.append(ConflictingEntry(entry, _build_alternate_id(entry.value), row))
    return list(new.values()), duplicates, conflicts


def load_recorded_bodies(workspace_id: int, entry_ids: list[str]) -> dict[str, tuple[int, bytes | None]]:
    """Return (row id, body) of recorded trace entries by id; the body is None after a redaction. 1 query."""
    marks = ", ".join(["%s"] * len(entry_ids))
    with connection.cursor() as cursor:
        cursor.execute(RECORDED_BODIES.replace("{ids}", marks), [workspace_id, EntryKind.TRACE, *entry_ids])
        rows = cursor.fetchall()
    return {entry_id: (row, None if body is None else bytes(body)) for row, entry_id, body in rows}


def _is_repair(before: bytes, value: dict[str, Any]) -> bool:
    """Return whether both are one entry, once as it was and once repaired by a lenient import."""
    stored = json.loads(before)
    return bool(stored.get("original") == value or value.get("original") == stored)


def _build_alternate_id(value: dict[str, Any]) -> str:
    return (
        f"{value['id'][: MAX_ID_LENGTH - 20]}~{hashlib.sha256(canonical_json.encode(value)).hexdigest()[:16]}"
    )
