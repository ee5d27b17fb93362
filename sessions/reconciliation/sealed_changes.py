"""What trace entries seal of a change itself: the content that it started from, and whether it is empty."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from traces.change_fields import LINE_CHANGES_FIELD, PREVIOUS_HASH_FIELD
from traces.entries.excerpts import read_body_or_excerpt
from traces.entry_schema import to_canonical_path
from traces.models import LedgerEntry

EMPTY_FILE = f"sha256:{hashlib.sha256(b'').hexdigest()}"  # created without a line: that is a change


@dataclass(frozen=True, slots=True)
class SealedChange:
    """`previous_hash` is "" where it is not known. `has_no_line`: no line was brought or taken."""

    previous_hash: str = ""
    has_no_line: bool = False


UNKNOWN_CHANGE = SealedChange()


def load_sealed_changes(entry_ids: Sequence[int]) -> Iterator[tuple[tuple[int, str], SealedChange]]:
    """Yield ((row id, path), change) of each file whose change is known. 1 query."""
    entries = LedgerEntry.objects.filter(pk__in=entry_ids).select_related("body", "excerpt")
    for entry in entries.iterator(chunk_size=len(entry_ids)):
        files = (read_body_or_excerpt(entry) or {}).get("files")
        for file in files if isinstance(files, list) else ():
            change = _parse_change(file)
            if change is not None:
                yield (entry.pk, change[0]), change[1]


def _parse_change(file: Any) -> tuple[str, SealedChange] | None:
    if not isinstance(file, dict):
        return None
    previous, lines = file.get(PREVIOUS_HASH_FIELD), file.get(LINE_CHANGES_FIELD)
    try:
        path = to_canonical_path(file["relative_path"])
    except (KeyError, TypeError, ValueError):
        return None
    return path, SealedChange(previous if isinstance(previous, str) else "", lines == [])
