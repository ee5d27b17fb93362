"""Read the versions of one file, through its renames, from a repository."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from traces.ranges.git_reader import SECONDS, Commit, GitLimitError, GitReader, GitReadError
from traces.ranges.lineage import split_lines
from traces.ranges.track_lines import FileVersion

MAX_COMMITS = 100
MAX_BLOB = 1024 * 1024
MAX_BYTES = 8 * 1024 * 1024
MAX_LINES = 120_000
MAX_RENAMES = 5

HASHES_ONLY = "lines are compared by hash only."
TOO_SLOW = f"Reading the git history took longer than {SECONDS:g} seconds: {HASHES_ONLY}"
NOT_COMMITTED = f"The file is not in the git history: {HASHES_ONLY}"
NO_REPOSITORY = f"The workspace is not in a git repository with commits: {HASHES_ONLY}"
UNSUPPORTED_NAME = f"git cannot look up names with line breaks: {HASHES_ONLY}"
BINARY = "The file is binary: it is compared by hash only."


@dataclass(frozen=True, slots=True)
class PathChange:
    """A commit that renamed or deleted a file: from `old` to `new`, "" if it was deleted."""

    commit: Commit
    old: str
    new: str = ""


@dataclass(frozen=True, slots=True)
class FileHistory:
    """The `versions` of a file that the `commits` made, oldest first.

    `renames` are how it got its name, newest first; `removal` what happened to a file that HEAD no longer
    has. `note` says why nothing was read.
    """

    versions: tuple[FileVersion, ...] = ()
    commits: tuple[Commit, ...] = ()
    renames: tuple[PathChange, ...] = ()
    removal: PathChange | None = None
    note: str = ""

    @property
    def is_truncated(self) -> bool:
        """Whether there are older versions than were read."""
        return any(version.is_truncated for version in self.versions)

    @property
    def head_content(self) -> bytes | None:
        """The bytes of the file at HEAD."""
        return None if self.removal or not self.versions else b"".join(self.versions[-1].lines)


def read_file_history(root: str, path: str, seconds: float = SECONDS) -> FileHistory:
    """Read the history of a file below a directory, within limits.

    Never raises for what a repository contains.
    """
    if "\n" in path:
        return FileHistory(note=UNSUPPORTED_NAME)
    reader = GitReader(root, seconds)
    try:
        revision = reader.read_head()
    except GitLimitError:
        return FileHistory(note=TOO_SLOW)
    except GitReadError:
        return FileHistory(note=NO_REPOSITORY)
    try:
        return _HistoryReader(reader).read(revision, path)
    except GitLimitError:
        return FileHistory(note=TOO_SLOW)
    except (GitReadError, ValueError):
        return FileHistory(note=NO_REPOSITORY)


@dataclass(slots=True)
class _KnownCommit:
    """A commit of the file's history, with the name and the blob that the file had."""

    commit: Commit
    path: str
    blob: tuple[str, int] | None


@dataclass(slots=True)
class _HistoryReader:
    reader: GitReader
    commits: list[_KnownCommit] = field(default_factory=list)
    renames: list[PathChange] = field(default_factory=list)

    def read(self, head: str, path: str) -> FileHistory:
        newest = self._list_commits(head, path)
        if not newest:
            return FileHistory(note=NOT_COMMITTED)
        self.commits = newest
        while len(self.renames) < MAX_RENAMES and self._follow_rename():
            pass
        removal = self._find_removal(newest[-1]) if newest[-1].blob is None else None
        versions = self._build_versions()
        commits = [item.commit for item in self.commits][len(self.commits) - len(versions) :]
        return FileHistory(tuple(versions), tuple(commits), tuple(self.renames), removal)

    def _list_commits(self, revision: str, path: str) -> list[_KnownCommit]:
        commits = self.reader.read_log(revision, path, MAX_COMMITS)
        blobs = self.reader.find_blobs([(commit.revision, path) for commit in commits]) if commits else []
        return [_KnownCommit(commit, path, blob) for commit, blob in zip(commits, blobs, strict=True)]

    def _follow_rename(self) -> bool:
        """Continue under the previous name if the oldest commit renamed the file; return whether it did."""
        first = self.commits[0]
        if first.commit.parents or first.blob is None or len(self.commits) >= MAX_COMMITS:
            return False
        old = {new: old for old, new in self._find_renames(first.commit)}.get(first.path)
        older = self._list_commits(f"{first.commit.revision}^1", old) if old and "\n" not in old else []
        if not older or old is None:
            return False
        self.renames.append(PathChange(first.commit, old, first.path))
        # git listed it without parents, because the path did not exist before: connect both histories.
        first.commit = replace(first.commit, parents=(older[-1].commit.revision,))
        self.commits = [*older, *self.commits]
        return True

    def _find_renames(self, commit: Commit) -> list[tuple[str, str]]:
        try:
            return self.reader.find_renames(commit.revision)
        except GitLimitError:
            raise
        except GitReadError:
            return []  # the root commit has no parent to compare with

    def _find_removal(self, last: _KnownCommit) -> PathChange:
        return PathChange(last.commit, last.path, dict(self._find_renames(last.commit)).get(last.path, ""))

    def _build_versions(self) -> list[FileVersion]:
        readable = _limit_bytes(self.commits)
        contents = self.reader.read_blobs(sorted({item.blob[0] for item in readable if item.blob}))
        indexes = {item.commit.revision: index for index, item in enumerate(readable)}
        versions: list[FileVersion] = []
        for item in readable:
            commit, path = item.commit, item.path
            parents = tuple(indexes[name] for name in commit.parents if name in indexes)
            lines = split_lines(contents[item.blob[0]]) if item.blob else ()
            is_truncated = len(parents) < len(commit.parents)
            version = FileVersion(
                commit.revision, lines, path, parents, commit.timestamp, is_truncated=is_truncated
            )
            versions.append(version)
        return _limit_lines(versions)


def _limit_bytes(commits: Sequence[_KnownCommit]) -> Sequence[_KnownCommit]:
    """Return the newest commits that fit the limits, and none before one that does not."""
    bytes_left = MAX_BYTES
    for index in range(len(commits) - 1, -1, -1):
        size = blob[1] if (blob := commits[index].blob) else 0
        bytes_left -= size
        if size > MAX_BLOB or bytes_left < 0 or len(commits) - index > MAX_COMMITS:
            return commits[index + 1 :]
    return commits


def _limit_lines(versions: list[FileVersion]) -> list[FileVersion]:
    """Return the newest versions whose lines together may be compared."""
    lines_left = MAX_LINES
    for index in range(len(versions) - 1, -1, -1):
        lines_left -= len(versions[index].lines)
        if lines_left < 0:
            return [_renumber_parents(version, index + 1) for version in versions[index + 1 :]]
    return versions


def _renumber_parents(version: FileVersion, removed: int) -> FileVersion:
    parents = tuple(parent - removed for parent in version.parents if parent >= removed)
    return replace(
        version, parents=parents, is_truncated=version.is_truncated or len(parents) < len(version.parents)
    )
