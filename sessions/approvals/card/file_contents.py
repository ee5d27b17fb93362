"""Reading files of a workspace's local root for a preview, at the moment of the request.

The agent works in the same folder, so nothing there is trusted: a path is followed through links first,
then opened component by component without following any, so that a folder swapped for a link in between
leads nowhere.
"""

from __future__ import annotations

import os
import stat
from contextlib import ExitStack
from dataclasses import dataclass

from controlplane.models import Workspace
from controlplane.policy.paths.filesystem import Location
from sessions.worktree import Worktree

MAX_BYTES = 1024 * 1024
_DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a FIFO must not make the page wait


@dataclass(frozen=True, slots=True)
class FileContent:
    """`text` is None where it is not known; then `why` says so. A missing file is "" and `gone`."""

    text: str | None
    is_missing: bool = False
    reason: str = ""


NOT_ON_SERVER = FileContent(None, reason="The current file is not on this server.")
MISSING = FileContent("", is_missing=True)


class WorkspaceFiles:
    """The files of one workspace, by canonical path."""

    def __init__(self, workspace: Workspace) -> None:
        self.worktree = Worktree(workspace.pk, workspace.local_root, {})

    @property
    def is_available(self) -> bool:
        """Whether the workspace is on this machine at all."""
        return self.worktree.root is not None

    def read(self, path: str) -> FileContent:
        """The text of a file as it is now; never raises."""
        if self.worktree.root is None:
            return NOT_ON_SERVER
        resolved = self.worktree.resolve(path)
        if resolved.location is not Location.INSIDE or not resolved.path:
            return FileContent(None, reason="The path leads out of the workspace.")
        try:
            return _decode(_read_bytes(str(self.worktree.root), resolved.path))
        except (FileNotFoundError, NotADirectoryError):
            return MISSING
        except (OSError, ValueError):
            return FileContent(None, reason="The file cannot be read.")

    def list_below(self, folder: str) -> list[str] | None:
        """Files below a folder, workspace-relative; None when not known or too many."""
        paths = self.worktree.list_files(folder)
        return None if paths is None else sorted(paths)


def _read_bytes(root: str, path: str) -> bytes | None:
    """At most `MAX_BYTES` and one more; None for what is no regular file."""
    *directories, name = path.split("/")
    with ExitStack() as stack:
        directory = os.open(root, _DIRECTORY_FLAGS)
        stack.callback(os.close, directory)
        for folder in directories:
            directory = os.open(folder, _DIRECTORY_FLAGS, dir_fd=directory)
            stack.callback(os.close, directory)
        descriptor = os.open(name, _FILE_FLAGS, dir_fd=directory)
        stack.callback(os.close, descriptor)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(MAX_BYTES + 1)


def _decode(content: bytes | None) -> FileContent:
    if content is None:
        return FileContent(None, reason="It is not a regular file.")
    if len(content) > MAX_BYTES:
        return FileContent(None, reason="The file is too large to show.")
    try:
        return FileContent(content.decode())
    except UnicodeDecodeError:
        return FileContent(None, reason="The file is not UTF-8 text.")
