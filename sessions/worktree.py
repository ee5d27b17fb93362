"""What is known about a workspace's files: the caller's hashes, the disk, the ledger, in that order.

Implements the core's `World`. Paths are workspace-relative. A file that cannot be read is unknown, never
an error: the decision says so.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterable, Mapping, Sequence
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Protocol

from controlplane.policy.paths.filesystem import Location, ResolvedPath, resolve_lexically
from traces.entries.record import find_newest_hashes

MAX_LINKS = 40  # as Linux
MAX_BELOW = 10_000
MAX_HASH_BYTES = 64 * 1024 * 1024
MAX_TEXT_BYTES = 1024 * 1024


class SessionChanges(Protocol):
    """The changes of the judged session and of others, as `sessions.gate.concurrent_changes` reads them."""

    def list_session_changes(self) -> Collection[str]: ...

    def find_changes_by_others(self, paths: Sequence[str]) -> Mapping[str, str]: ...


class Worktree:
    """`root` is the workspace's folder on this machine, or empty when it has none."""

    def __init__(
        self, workspace_id: int, root: str, told: Mapping[str, str], changes: SessionChanges | None = None
    ) -> None:
        self.workspace_id = workspace_id
        self.changes = changes
        self.root = Path(os.path.realpath(root)) if root else None
        self.told = told
        self._hashes: dict[str, str | None] = {}

    def resolve(self, path: str) -> ResolvedPath:
        if self.root is None:
            return resolve_lexically(path)
        return _follow(self.root, path)

    def exists(self, path: str) -> bool | None:
        if self.root is not None:
            return os.path.lexists(self.root / path)
        known = self.content_hash(path)
        return None if known is None else known != ""

    def is_dir(self, path: str) -> bool | None:
        return (self.root / path).is_dir() if self.root is not None else None

    def list_files(self, path: str) -> Iterable[str] | None:
        if self.root is None:
            return None
        found: list[str] = []
        for folder, folders, files in os.walk(self.root / path):
            inside = Path(folder).relative_to(self.root).as_posix()
            links = [name for name in folders if (Path(folder) / name).is_symlink()]
            found.extend(f"{inside}/{name}" for name in [*files, *links])
            if len(found) > MAX_BELOW:
                return None
        return found

    def list_names(self, path: str) -> Sequence[str] | None:
        if self.root is None:
            return None
        try:
            with os.scandir(self.root / path) as entries:
                found = [entry.name for entry in islice(entries, MAX_BELOW + 1)]
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except (OSError, ValueError):
            return None
        return found if len(found) <= MAX_BELOW else None

    def list_links(self, path: str) -> Iterable[str] | None:
        found = self.list_files(path)
        return (
            None
            if found is None or self.root is None
            else [name for name in found if (self.root / name).is_symlink()]
        )

    def content_hash(self, path: str) -> str | None:
        if path in self.told:
            return self.told[path]
        if path not in self._hashes:
            self._hashes[path] = self._look_up(path)
        return self._hashes[path]

    def read_text(self, path: str) -> str | None:
        if self.root is None:
            return None
        try:
            with _opened(self.root / path) as file:
                data = file.read(MAX_TEXT_BYTES + 1)
            return data.decode() if len(data) <= MAX_TEXT_BYTES else None
        except (OSError, ValueError):
            return None

    def list_session_changes(self) -> Collection[str]:
        return () if self.changes is None else self.changes.list_session_changes()

    def find_changes_by_others(self, paths: Sequence[str]) -> Mapping[str, str]:
        return {} if self.changes is None else self.changes.find_changes_by_others(paths)

    def _look_up(self, path: str) -> str | None:
        if self.root is not None:
            return _hash_file(self.root / path)
        return find_newest_hashes(self.workspace_id, [path]).get(path)


def _hash_file(path: Path) -> str | None:
    """`sha256:…` of a regular file; "" when nothing is there; None when it cannot be read."""
    try:
        with _opened(path) as file:
            return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError):
        return None


def _opened(path: Path) -> BufferedReader:
    """A regular file that is not too long; a FIFO planted by an agent must not make the gate wait."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode) or facts.st_size > MAX_HASH_BYTES:
        os.close(descriptor)
        raise OSError(f"{path} is no regular file of a sensible size")
    return os.fdopen(descriptor, "rb")


def _follow(root: Path, path: str) -> ResolvedPath:
    """Component by component, as the kernel would; a rest that does not exist is kept as it is."""
    waiting = [segment for segment in reversed(path.split("/")) if segment not in {"", "."}]
    at = str(root)
    links = 0
    while waiting:
        segment = waiting.pop()
        if segment == "..":
            at = os.path.dirname(at)  # noqa: PTH120  text, not a file: `at` is already resolved
            continue
        step = os.path.join(at, segment)  # noqa: PTH118  the same
        try:
            target = os.readlink(step)  # noqa: PTH115  the same
        except (OSError, ValueError):
            at = step
            continue
        links += 1
        if links > MAX_LINKS:
            return ResolvedPath(Location.LOOP)
        if target.startswith("/"):
            at = "/"
        waiting.extend(part for part in reversed(target.split("/")) if part not in {"", "."})
    return _placed(root, at)


def _placed(root: Path, at: str) -> ResolvedPath:
    if at == str(root):
        return ResolvedPath(Location.INSIDE, "")
    prefix = f"{root}/"
    if at.startswith(prefix):
        return ResolvedPath(Location.INSIDE, at[len(prefix) :])
    return ResolvedPath(Location.OUTSIDE)
