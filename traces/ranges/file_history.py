"""The versions of one file, through its renames: what a repository knows, as values to be followed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from traces.ranges.git_reader import SECONDS, Commit, GitError, GitTooSlowError, Repository
from traces.ranges.lineage import lines_of
from traces.ranges.track_lines import Version

MAX_COMMITS = 100
MAX_BLOB = 1024 * 1024
MAX_BYTES = 8 * 1024 * 1024
MAX_LINES = 120_000
MAX_RENAMES = 5

ALONE = "lines are held against hashes alone."
TOO_SLOW = f"The repository's history could not be read within {SECONDS:g} seconds: {ALONE}"
NOT_COMMITTED = f"The repository's history does not hold this file: {ALONE}"
NO_REPOSITORY = f"There is no git repository with a commit around this workspace: {ALONE}"
STRANGE_NAME = f"git cannot be asked for a name with a line break: {ALONE}"
BINARY = "The file is binary: it is held against hashes alone."


@dataclass(frozen=True, slots=True)
class Change:
    """A commit that renamed a file or took it away: from `old` to `new`, or to "" where it is gone."""

    commit: Commit
    old: str
    new: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """`versions` are what the `commits` made of the file, the oldest first; `names` how it came by its
    name, the newest first; `end` what became of a file that HEAD no longer has. `note` says why nothing was
    read."""

    versions: tuple[Version, ...] = ()
    commits: tuple[Commit, ...] = ()
    names: tuple[Change, ...] = ()
    end: Change | None = None
    note: str = ""

    @property
    def cut(self) -> bool:
        """Whether there are older versions than were read."""
        return any(version.cut for version in self.versions)

    @property
    def head(self) -> bytes | None:
        """The file's bytes at HEAD."""
        return None if self.end or not self.versions else b"".join(self.versions[-1].lines)


def read_history(root: str, path: str, seconds: float = SECONDS) -> History:
    """The history of a file below a folder, as far as it is read within the bounds. Never raises for what
    is there."""
    if "\n" in path:
        return History(note=STRANGE_NAME)
    repository = Repository(root, seconds)
    try:
        head = repository.head()
    except GitTooSlowError:
        return History(note=TOO_SLOW)
    except GitError:
        return History(note=NO_REPOSITORY)
    try:
        return _Reading(repository).read(head, path)
    except GitTooSlowError:
        return History(note=TOO_SLOW)
    except (GitError, ValueError):
        return History(note=NO_REPOSITORY)


@dataclass(slots=True)
class _Known:
    """A commit of the file's history, the name that the file had there, and its blob."""

    commit: Commit
    path: str
    blob: tuple[str, int] | None


@dataclass(slots=True)
class _Reading:
    repository: Repository
    known: list[_Known] = field(default_factory=list)
    names: list[Change] = field(default_factory=list)

    def read(self, head: str, path: str) -> History:
        newest = self._list(head, path)
        if not newest:
            return History(note=NOT_COMMITTED)
        self.known = newest
        while len(self.names) < MAX_RENAMES and self._step_back():
            pass
        end = self._end(newest[-1]) if newest[-1].blob is None else None
        versions = self._versions()
        commits = [one.commit for one in self.known][len(self.known) - len(versions) :]
        return History(tuple(versions), tuple(commits), tuple(self.names), end)

    def _list(self, revision: str, path: str) -> list[_Known]:
        commits = self.repository.log(revision, path, MAX_COMMITS)
        blobs = self.repository.blobs([(one.revision, path) for one in commits]) if commits else []
        return [_Known(one, path, blob) for one, blob in zip(commits, blobs, strict=True)]

    def _step_back(self) -> bool:
        """Read on under the name before, where the oldest commit renamed the file; whether there was one."""
        first = self.known[0]
        if first.commit.parents or first.blob is None or len(self.known) >= MAX_COMMITS:
            return False
        old = {new: old for old, new in self._renames(first.commit)}.get(first.path)
        older = self._list(f"{first.commit.revision}^1", old) if old and "\n" not in old else []
        if not older or old is None:
            return False
        self.names.append(Change(first.commit, old, first.path))
        first.commit = replace(first.commit, parents=(older[-1].commit.revision,))
        self.known = [*older, *self.known]
        return True

    def _renames(self, commit: Commit) -> list[tuple[str, str]]:
        try:
            return self.repository.renames(commit.revision)
        except GitTooSlowError:
            raise
        except GitError:
            return []  # the first commit of all has none before it

    def _end(self, last: _Known) -> Change:
        return Change(last.commit, last.path, dict(self._renames(last.commit)).get(last.path, ""))

    def _versions(self) -> list[Version]:
        kept = _kept(self.known)
        contents = self.repository.contents(sorted({one.blob[0] for one in kept if one.blob}))
        places = {one.commit.revision: at for at, one in enumerate(kept)}
        found: list[Version] = []
        for one in kept:
            parents = tuple(places[name] for name in one.commit.parents if name in places)
            lines = lines_of(contents[one.blob[0]]) if one.blob else ()
            cut = len(parents) < len(one.commit.parents)
            commit = one.commit
            found.append(Version(commit.revision, lines, one.path, parents, commit.seconds, cut=cut))
        return _within_lines(found)


def _kept(known: Sequence[_Known]) -> Sequence[_Known]:
    """The newest that are no more than may be read, without any behind one that is too large."""
    left = MAX_BYTES
    for at in range(len(known) - 1, -1, -1):
        size = blob[1] if (blob := known[at].blob) else 0
        left -= size
        if size > MAX_BLOB or left < 0 or len(known) - at > MAX_COMMITS:
            return known[at + 1 :]
    return known


def _within_lines(versions: list[Version]) -> list[Version]:
    """The newest whose lines together are no more than may be compared."""
    left = MAX_LINES
    for at in range(len(versions) - 1, -1, -1):
        left -= len(versions[at].lines)
        if left < 0:
            return [_renumbered(version, at + 1) for version in versions[at + 1 :]]
    return versions


def _renumbered(version: Version, gone: int) -> Version:
    parents = tuple(parent - gone for parent in version.parents if parent >= gone)
    return replace(version, parents=parents, cut=version.cut or len(parents) < len(version.parents))
