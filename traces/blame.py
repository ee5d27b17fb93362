"""Blame by intent: the recorded ranges of a file, held against its text of now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from traces.lineage import Claim, Lineage, trace_lines
from traces.models import TraceRange

CLAIMS_MOST = 2000
CONTENT_MOST = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Author:
    """The recorded range behind a line; `start` and `end` are its lines when it was recorded."""

    entry_id: str
    intent_id: str
    session_id: str
    agent: str
    mutation_class: str
    changed_at: datetime
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Blame:
    """`authors` by the keys in `lineage`; `truncated` when there were older ranges than were looked at."""

    lineage: Lineage
    authors: dict[int, Author]
    truncated: bool


def blame(workspace_id: int, path: str, content: bytes) -> Blame:
    """Who wrote the lines of `content`, the text of `path` now. 1 query.

    What was seen live goes before what was imported, then the newest before the older.
    """
    mine = TraceRange.objects.filter(file__workspace_id=workspace_id, file__path=path, file__deleted=False)
    newest = mine.select_related("file__entry").order_by("file__imported", "-file_id", "pk")
    rows = list(newest[: CLAIMS_MOST + 1])
    kept = rows[:CLAIMS_MOST]
    claims = [Claim(row.pk, row.start_line, row.end_line, row.content_hash) for row in kept]
    authors = {row.pk: _author(row) for row in kept}
    return Blame(trace_lines(content, claims), authors, len(rows) > CLAIMS_MOST)


def on_disk(local_root: str, path: str) -> bytes | None:
    """The file's bytes below the workspace's root.

    None without a root, and for what is no plain file inside of it or is over CONTENT_MOST bytes.
    """
    if not local_root:
        return None
    try:
        root = Path(local_root).resolve(strict=True)
        file = (root / path).resolve(strict=True)  # a link must not lead out of the workspace
        if not file.is_relative_to(root) or not file.is_file():
            return None
        with file.open("rb") as stream:
            content = stream.read(CONTENT_MOST + 1)
    except (OSError, ValueError, RuntimeError):
        return None
    return content if len(content) <= CONTENT_MOST else None


def _author(row: TraceRange) -> Author:
    file = row.file
    return Author(
        entry_id=file.entry.entry_id,
        intent_id=file.intent_id,
        session_id=file.session_id,
        agent=file.entry.agent,
        mutation_class=file.mutation_class,
        changed_at=file.changed_at,
        start=row.start_line,
        end=row.end_line,
    )
