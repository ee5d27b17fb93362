"""The files of a workspace, as far as they are known: claimed hashes, the disk, the ledger, in that order.

Implements the core's `Filesystem`. Paths are workspace-relative. A file that cannot be read is unknown, never
an error: the decision says so.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Protocol

from django.db import DatabaseError, InterfaceError

from controlplane.policy.paths.filesystem import Location, ResolvedPath, resolve_lexically
from traces.entries.record import find_newest_hashes

MAX_LINKS = 40  # as Linux
MAX_BELOW = 10_000
MAX_HASH_BYTES = 64 * 1024 * 1024
MAX_TEXT_BYTES = 1024 * 1024


class SessionChanges(Protocol):
    """What `sessions.gate.concurrent_changes` knows; a protocol, since cards know no gate."""

    def list_session_changes(self) -> Collection[str]: ...

    def find_changes_by_others(self, paths: Sequence[str]) -> Mapping[str, str]: ...


class Worktree:
    """Answer the core's questions about files.

    `root` is the workspace's directory on this machine, or empty when it has none. `claimed_hashes` are what
    the client says of its own files.
    """

    def __init__(
        self,
        workspace_id: int,
        root: str,
        claimed_hashes: Mapping[str, str],
        changes: SessionChanges | None = None,
    ) -> None:
        self.workspace_id = workspace_id
        self.changes = changes
        self.root = Path(os.path.realpath(root)) if root else None
        self.claimed_hashes = claimed_hashes
        self._hashes: dict[str, str | None] = {}
        self.failure: Exception | None = None  # of the database, while the core asked

    def resolve(self, path: str) -> ResolvedPath:
        if self.root is None:
            return resolve_lexically(path)
        return _resolve_links(self.root, path)

    def resolve_outside(self, path: str) -> str | None:
        return os.path.realpath(path) if path.startswith("/") else None

    def exists(self, path: str) -> bool | None:
        if self.root is not None:
            return os.path.lexists(self.root / path)
        content_hash = self.content_hash(path)
        return None if content_hash is None else content_hash != ""

    def is_dir(self, path: str) -> bool | None:
        return (self.root / path).is_dir() if self.root is not None else None

    def list_files(self, path: str) -> Iterable[str] | None:
        if self.root is None:
            return None
        paths: list[str] = []
        for directory, directories, files in os.walk(self.root / path):
            relative = Path(directory).relative_to(self.root).as_posix()
            links = [name for name in directories if (Path(directory) / name).is_symlink()]
            paths.extend(f"{relative}/{name}" for name in [*files, *links])
            if len(paths) > MAX_BELOW:
                return None
        return paths

    def list_names(self, path: str) -> Sequence[str] | None:
        if self.root is None:
            return None
        try:
            with os.scandir(self.root / path) as entries:
                names = [entry.name for entry in islice(entries, MAX_BELOW + 1)]
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except (OSError, ValueError):
            return None
        return names if len(names) <= MAX_BELOW else None

    def list_links(self, path: str) -> Iterable[str] | None:
        paths = self.list_files(path)
        return (
            None
            if paths is None or self.root is None
            else [name for name in paths if (self.root / name).is_symlink()]
        )

    def content_hash(self, path: str) -> str | None:
        if path in self.claimed_hashes:
            return self.claimed_hashes[path]
        if path not in self._hashes:
            self._hashes[path] = self._find_hash(path)
        return self._hashes[path]

    def read_text(self, path: str) -> str | None:
        if self.root is None:
            return None
        try:
            with _open_regular_file(self.root / path) as file:
                data = file.read(MAX_TEXT_BYTES + 1)
            return data.decode() if len(data) <= MAX_TEXT_BYTES else None
        except (OSError, ValueError):
            return None

    def list_session_changes(self) -> Collection[str]:
        with self._noting_failure():
            return () if self.changes is None else self.changes.list_session_changes()

    def find_changes_by_others(self, paths: Sequence[str]) -> Mapping[str, str]:
        with self._noting_failure():
            return {} if self.changes is None else self.changes.find_changes_by_others(paths)

    @contextmanager
    def _noting_failure(self) -> Iterator[None]:
        """Keep an error of the database for the caller: the core makes a denial of whatever is raised."""
        try:
            yield
        except (DatabaseError, InterfaceError) as error:
            self.failure = error
            raise

    def _find_hash(self, path: str) -> str | None:
        if self.root is not None:
            return _hash_file(self.root / path)
        with self._noting_failure():
            return find_newest_hashes(self.workspace_id, [path]).get(path)


def _hash_file(path: Path) -> str | None:
    """`sha256:…` of a regular file; "" when nothing is there; None when it cannot be read."""
    try:
        with _open_regular_file(path) as file:
            return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError):
        return None


def _open_regular_file(path: Path) -> BufferedReader:
    """Open a regular file of at most `MAX_HASH_BYTES`. Raise OSError for anything else."""
    # Non-blocking and then fstat: opening a FIFO that an agent planted would make the gate wait for a writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_HASH_BYTES:
        os.close(descriptor)
        raise OSError(f"{path} is not a regular file of a usual size")
    return os.fdopen(descriptor, "rb")


def _resolve_links(root: Path, path: str) -> ResolvedPath:
    """Follow links component by component, as the kernel would; keep a rest that does not exist as it is."""
    pending = [segment for segment in reversed(path.split("/")) if segment not in {"", "."}]
    current = str(root)
    links = 0
    while pending:
        segment = pending.pop()
        if segment == "..":
            current = os.path.dirname(current)  # noqa: PTH120  text, not a file: `at` is already resolved
            continue
        step = os.path.join(current, segment)  # noqa: PTH118  the same
        try:
            target = os.readlink(step)  # noqa: PTH115  the same
        except (OSError, ValueError):
            current = step
            continue
        links += 1
        if links > MAX_LINKS:
            return ResolvedPath(Location.LOOP)
        if target.startswith("/"):
            current = "/"
        pending.extend(part for part in reversed(target.split("/")) if part not in {"", "."})
    return _relative_to_root(root, current)


def _relative_to_root(root: Path, location: str) -> ResolvedPath:
    if location == str(root):
        return ResolvedPath(Location.INSIDE, "")
    prefix = f"{root}/"
    if location.startswith(prefix):
        return ResolvedPath(Location.INSIDE, location[len(prefix) :])
    return ResolvedPath(Location.OUTSIDE)
