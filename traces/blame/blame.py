"""Blame by intent: attribute the lines of a file to recorded ranges, by its text and its git history."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from traces.entries.recorded_edits import load_recorded_edits
from traces.models import TraceFile, TraceRange
from traces.ranges.file_history import BINARY, FileHistory, PathChange, read_file_history
from traces.ranges.git_reader import Commit
from traces.ranges.lineage import Claim, Lineage, split_lines, trace_lines
from traces.ranges.origins import trace_history
from traces.ranges.rebuild_texts import insert_rebuilt_versions
from traces.ranges.track_lines import FileVersion

MAX_CLAIMS = 2000
CALLS_BEFORE = 10_000  # row ids before an entry in which its call is searched
MAX_CONTENT = 1024 * 1024
BINARY_PROBE_BYTES = 8000  # a NUL among these first bytes makes a file binary, as in git
NO_DISK = "The workspace has no files on this server, so lines are matched by hashes alone."
PARTLY = "The file and its history are too large to follow completely: some lines may lack their entry."


@dataclass(frozen=True, slots=True)
class LineAuthor:
    """The recorded range behind a line. `path`, `start` and `end` are as recorded then; `number` is the
    row id of the entry."""

    entry_id: str
    intent_id: str
    session_id: str
    agent: str
    mutation_class: str
    changed_at: datetime
    start: int
    end: int
    path: str = ""
    number: int = 0


@dataclass(frozen=True, slots=True)
class Blame:
    """`authors` by the keys in `lineage`. `places` are the numbers that the versions of `history` and, behind
    them, the present text have there: between them stand texts that nobody committed.

    `truncated` when there were older ranges than were looked at. `followed` says whether the history was
    used; `note` why it was not, or not whole.
    """

    lineage: Lineage
    authors: dict[int, LineAuthor]
    truncated: bool
    history: FileHistory = field(default_factory=FileHistory)
    version_numbers: tuple[int, ...] = ()
    note: str = ""

    @property
    def follows_history(self) -> bool:
        return bool(self.version_numbers)

    def find_commit(self, version: int | None) -> Commit | None:
        """The commit behind a version of a span; None for what is not committed, or older than what was
        read."""
        at = None if version is None else bisect_left(self.version_numbers, version)
        if at is None or at >= len(self.history.versions) or self.history.versions[at].is_truncated:
            return None
        return self.history.commits[at]

    def is_uncommitted(self, version: int | None) -> bool:
        """Return whether lines of that version are not committed yet."""
        return version is not None and bisect_left(self.version_numbers, version) == len(
            self.history.versions
        )


def blame(workspace_id: int, path: str, content: bytes, root: str = "") -> Blame:
    """Who wrote the lines of `content`, the text of `path` now; with its history in a repository around
    `root`.

    What was seen live goes before what was imported, then the narrower range before the wider one, as it
    says more, then the newest before the older. 1 query.
    """
    return blame_with_history(
        workspace_id, path, content, read_file_history(root, path) if root else FileHistory(note=NO_DISK)
    )


def blame_with_history(workspace_id: int, path: str, content: bytes, history: FileHistory) -> Blame:
    """The same with a history that was read already. 1 query, 1 more where edits may tell texts between
    commits."""
    rows, truncated = _load_ranges(workspace_id, [path, *(change.old for change in history.renames)])
    authors = {row.pk: _to_author(row) for row in rows}
    claims = [_to_claim(row) for row in rows]
    note = BINARY if b"\0" in content[:BINARY_PROBE_BYTES] else history.note
    if note or not history.versions:
        return Blame(trace_lines(content, claims), authors, truncated, history, note=note)
    last = FileVersion("", split_lines(content), path, (len(history.versions) - 1,))
    versions, places = _add_rebuilt_versions(workspace_id, path, [*history.versions, last], rows)
    traced = trace_history(versions, claims)
    note = "" if traced.is_complete else PARTLY
    return Blame(traced.lineage, authors, truncated, history, tuple(places), note)


@dataclass(frozen=True, slots=True)
class Deletion:
    """How a file was deleted: by which entry, and in which commit (maybe by a rename), as far as known."""

    entry: LineAuthor | None
    change: PathChange | None


def _add_rebuilt_versions(
    workspace_id: int, path: str, versions: list[FileVersion], rows: list[TraceRange]
) -> tuple[list[FileVersion], list[int]]:
    """The versions with those between them that recorded edits prove. 1 query, none where no whole text was
    hashed."""
    files = [row.file for row in rows if row.file.content_hash and row.file.session_id]
    if not files:
        return versions, list(range(len(versions)))
    files.sort(key=lambda file: -file.entry_id)
    sessions = dict.fromkeys(file.session_id for file in files)
    numbers = [file.entry_id for file in files]
    edits = load_recorded_edits(workspace_id, path, sessions, (min(numbers) - CALLS_BEFORE, max(numbers)))
    times_by_hash = {file.content_hash: file.changed_at.timestamp() for file in files}
    return insert_rebuilt_versions(versions, edits, times_by_hash)


def find_deletion(
    workspace_id: int, path: str, root: str, history: FileHistory, *, recorded: bool = True
) -> Deletion | None:
    """Return how a file was deleted; None where it exists or never did.

    1 query, none while it is there or where it is known that no deletion was `recorded`.
    """
    if find_on_disk(root, path) is not None:
        return None
    entry = find_deleting_entry(workspace_id, path) if recorded else None
    return Deletion(entry, history.removal) if entry or history.versions else None


def find_deleting_entry(workspace_id: int, path: str) -> LineAuthor | None:
    """Return the entry that deleted a file, if it is the newest one of that file. 1 query."""
    files = (
        TraceFile.objects.filter(workspace_id=workspace_id, path=path)
        .select_related("entry")
        .defer("symbols")
    )
    newest = files.order_by("imported", "-pk").first()
    return _build_author(newest, 0, 0) if newest is not None and newest.deleted else None


def find_on_disk(local_root: str, path: str) -> Path | None:
    """Resolve a path below the workspace's root, following links; None for what is outside of it."""
    if not local_root:
        return None
    try:
        root = Path(local_root).resolve(strict=True)
        file = (root / path).resolve(strict=True)  # a link must not lead out of the workspace
    except (OSError, ValueError, RuntimeError):
        return None
    return file if file.is_relative_to(root) else None


def read_from_disk(local_root: str, path: str) -> bytes | None:
    """Read a file below the workspace's root.

    Return None without a root, and for what is not a regular file inside it or is over MAX_CONTENT bytes.
    """
    file = find_on_disk(local_root, path)
    try:
        if file is None or not file.is_file():
            return None
        with file.open("rb") as stream:
            content = stream.read(MAX_CONTENT + 1)
    except OSError:
        return None
    return content if len(content) <= MAX_CONTENT else None


def _load_ranges(workspace_id: int, paths: Sequence[str]) -> tuple[list[TraceRange], bool]:
    """Return (recorded ranges of these paths in order of precedence, whether there were more)."""
    ranges = TraceRange.objects.filter(
        file__workspace_id=workspace_id, file__path__in=paths, file__deleted=False
    )
    newest = ranges.select_related("file__entry").order_by("file__imported", "-file_id", "pk")
    rows = list(newest[: MAX_CLAIMS + 1])
    rows_in_order = rows[:MAX_CLAIMS]
    rows_in_order.sort(key=lambda row: (row.file.imported, row.end_line - row.start_line))
    return rows_in_order, len(rows) > MAX_CLAIMS


def _to_claim(row: TraceRange) -> Claim:
    content_hash = row.content_hash or row.file.content_hash
    return Claim(row.pk, row.start_line, row.end_line, content_hash, row.file.changed_at.timestamp())


def _to_author(row: TraceRange) -> LineAuthor:
    return _build_author(row.file, row.start_line, row.end_line)


def _build_author(file: TraceFile, start: int, end: int) -> LineAuthor:
    return LineAuthor(
        entry_id=file.entry.entry_id,
        intent_id=file.intent_id,
        session_id=file.session_id,
        agent=file.entry.agent,
        mutation_class=file.mutation_class,
        changed_at=file.changed_at,
        start=start,
        end=end,
        path=file.path,
        number=file.entry_id,
    )
