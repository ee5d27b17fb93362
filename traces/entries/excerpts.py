"""Excerpts of released bodies: the few fields that answers about git need after the body went to an archive.

A signature of the installation binds each excerpt to its entry, because an envelope commits to a body as a
whole and could not prove a part of it. An excerpt that is missing or was changed explains nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from controlplane.policy.model import ToolClass
from traces.change_fields import LINE_CHANGES_FIELD, PREVIOUS_HASH_FIELD
from traces.ledger import canonical_json
from traces.ledger.append import read_body
from traces.ledger.checkpoints import (
    NoteError,
    SignedNote,
    encode_base64,
    is_signed_by_installation,
    parse_note,
    sign_note,
)
from traces.ledger.log_name import is_log_name, log_origin
from traces.models import BodyExcerpt, EntryKind, LedgerEntry

TITLE = "excerpt of "
DECISION_FIELDS = ("classification", "answered", "targets", "offending")
FILE_FIELDS = ("relative_path", PREVIOUS_HASH_FIELD, LINE_CHANGES_FIELD)


def save_excerpts(entries: Iterable[LedgerEntry]) -> None:
    """Save the excerpts of entries whose bodies are about to be deleted. Entries come with their bodies.

    1 statement for 250. A decision that changed nothing gets an empty row: nothing of it is missing.
    """
    rows = [row for entry in entries if (row := _build_row(entry)) is not None]
    BodyExcerpt.objects.bulk_create(rows, batch_size=250, ignore_conflicts=True)


def read_body_or_excerpt(entry: LedgerEntry) -> dict[str, Any] | None:
    """Return the body, else its proven excerpt, which has some of the same fields; None without either.

    0 queries where both were fetched with the entry.
    """
    body = read_body(entry)
    if body is not None:
        return body
    stored = find_excerpt(entry)
    if stored is None or (stored.note and not _is_proven(entry, stored)):
        return None
    excerpt: dict[str, Any] = json.loads(bytes(stored.excerpt)) if stored.note else {}
    return excerpt


def find_excerpt(entry: LedgerEntry) -> BodyExcerpt | None:
    try:
        return entry.excerpt
    except BodyExcerpt.DoesNotExist:
        return None


class ExcerptCheck:
    """The check of `traces_bodyexcerpt`: each row is signed for its entry, and no redacted entry has one."""

    table = BodyExcerpt._meta.db_table

    def find_changes(
        self, entries: Sequence[LedgerEntry], redacted: Collection[int]
    ) -> Iterator[tuple[LedgerEntry, str]]:
        stored = BodyExcerpt.objects.in_bulk([entry.pk for entry in entries])
        for entry in entries:
            row = stored.get(entry.pk)
            if row is not None and entry.pk in redacted:
                yield entry, f"{self.table} has a row of it after a redaction"
            elif row is not None and row.note and not _is_proven(entry, row):
                yield entry, f"{self.table} holds another excerpt than was signed"

    def find_strays(self, workspace_id: int) -> Iterator[str]:
        """Yield nothing: a foreign key holds each row to its entry."""
        return iter(())


def _build_row(entry: LedgerEntry) -> BodyExcerpt | None:
    excerpt = _extract(entry.kind, read_body(entry) or {})
    if excerpt is None:
        return BodyExcerpt(entry=entry) if entry.kind == EntryKind.DECISION else None
    encoded = canonical_json.encode(excerpt)
    log = log_origin(entry.workspace_id)
    return BodyExcerpt(entry=entry, excerpt=encoded, note=sign_note(log, _format(log, entry, encoded)))


def _extract(kind: str, body: dict[str, Any]) -> dict[str, Any] | None:
    """Return the fields that outlive the body; None where there is nothing to tell."""
    if kind == EntryKind.DECISION and body.get("classification") == ToolClass.DESTRUCTIVE.value:
        return {name: body.get(name) for name in DECISION_FIELDS} | {"override": bool(body.get("override"))}
    if kind != EntryKind.TRACE:
        return None
    listed = body.get("files")
    files = [
        {name: file.get(name) for name in FILE_FIELDS}
        for file in (listed if isinstance(listed, list) else ())
        if isinstance(file, dict)
        and (file.get(PREVIOUS_HASH_FIELD) or file.get(LINE_CHANGES_FIELD) is not None)
    ]
    return {"files": files} if files else None


def _format(log: str, entry: LedgerEntry, encoded: bytes) -> str:
    digest = hashlib.sha256(encoded).digest()
    return f"{TITLE}{log}\n{encode_base64(bytes(entry.leaf_hash))}\n{encode_base64(digest)}\n"


def _is_proven(entry: LedgerEntry, stored: BodyExcerpt) -> bool:
    try:
        (title, *_), signed_text, signatures = parse_note(stored.note)
    except NoteError:
        return False
    log = title.removeprefix(TITLE)
    is_of_entry = signed_text == _format(log, entry, bytes(stored.excerpt))
    note = SignedNote(log, 0, b"", signed_text, signatures)
    return is_of_entry and is_log_name(log, entry.workspace_id) and is_signed_by_installation(note)
