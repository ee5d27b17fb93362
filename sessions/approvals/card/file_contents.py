"""Read files of a workspace's local root for a preview, at the time of the request.

The agent works in the same folder, so nothing there is trusted: the path is resolved through symlinks first,
then opened component by component with O_NOFOLLOW, so that a directory swapped for a symlink in between
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
class CurrentFile:
    """The content of a file now. `text` is None when it is unknown, and `reason` says why.

    A missing file has the text "" and `is_missing`.
    """

    text: str | None
    is_missing: bool = False
    reason: str = ""


NOT_ON_SERVER = CurrentFile(None, reason="The current file is not on this server.")
MISSING = CurrentFile("", is_missing=True)


class WorkspaceFiles:
    """Access to the files of one workspace by canonical path."""

    def __init__(self, workspace: Workspace) -> None:
        self.worktree = Worktree(workspace.pk, workspace.local_root, {})

    @property
    def is_available(self) -> bool:
        """Return whether the workspace has a local root on this server."""
        return self.worktree.root is not None

    def read(self, path: str) -> CurrentFile:
        """Return the current content of a file; never raise."""
        if self.worktree.root is None:
            return NOT_ON_SERVER
        resolved = self.worktree.resolve(path)
        if resolved.location is not Location.INSIDE or not resolved.path:
            return CurrentFile(None, reason="The path leads out of the workspace.")
        try:
            return _decode(_read_bytes(str(self.worktree.root), resolved.path))
        except (FileNotFoundError, NotADirectoryError):
            return MISSING
        except (OSError, ValueError):
            return CurrentFile(None, reason="The file cannot be read.")

    def list_below(self, directory: str) -> list[str] | None:
        """List the files below a directory, workspace-relative and sorted; None when unknown or too many."""
        paths = self.worktree.list_files(directory)
        return None if paths is None else sorted(paths)


def _read_bytes(root: str, path: str) -> bytes | None:
    """Return at most `MAX_BYTES` + 1 bytes; None for anything but a regular file."""
    *directories, name = path.split("/")
    with ExitStack() as stack:
        directory = os.open(root, _DIRECTORY_FLAGS)
        stack.callback(os.close, directory)
        for child in directories:
            directory = os.open(child, _DIRECTORY_FLAGS, dir_fd=directory)
            stack.callback(os.close, directory)
        descriptor = os.open(name, _FILE_FLAGS, dir_fd=directory)
        stack.callback(os.close, descriptor)
        # Checked on the open descriptor: the name may belong to something else by now.
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(MAX_BYTES + 1)


def _decode(content: bytes | None) -> CurrentFile:
    if content is None:
        return CurrentFile(None, reason="It is not a regular file.")
    if len(content) > MAX_BYTES:
        return CurrentFile(None, reason="The file is too large to show.")
    try:
        return CurrentFile(content.decode())
    except UnicodeDecodeError:
        return CurrentFile(None, reason="The file is not UTF-8 text.")
