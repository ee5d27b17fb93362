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
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a FIFO must not make the page wait


@dataclass(frozen=True, slots=True)
class FileText:
    """`text` is None where it is not known; then `why` says so. A missing file is "" and `gone`."""

    text: str | None
    gone: bool = False
    why: str = ""


ELSEWHERE = FileText(None, why="The file is not on this machine.")
GONE = FileText("", gone=True)


class FileTexts:
    """The files of one workspace, by canonical path."""

    def __init__(self, workspace: Workspace) -> None:
        self.worktree = Worktree(workspace.pk, workspace.local_root, {})

    @property
    def here(self) -> bool:
        """Whether the workspace is on this machine at all."""
        return self.worktree.root is not None

    def read(self, path: str) -> FileText:
        """The text of a file as it is now; never raises."""
        if self.worktree.root is None:
            return ELSEWHERE
        found = self.worktree.resolve(path)
        if found.location is not Location.INSIDE or not found.path:
            return FileText(None, why="The path leads out of the workspace.")
        try:
            return _text(_bytes(str(self.worktree.root), found.path))
        except (FileNotFoundError, NotADirectoryError):
            return GONE
        except (OSError, ValueError):
            return FileText(None, why="The file cannot be read.")

    def below(self, folder: str) -> list[str] | None:
        """Files below a folder, workspace-relative; None when not known or too many."""
        found = self.worktree.list_files(folder)
        return None if found is None else sorted(found)


def _bytes(root: str, path: str) -> bytes | None:
    """At most `MAX_BYTES` and one more; None for what is no regular file."""
    *folders, name = path.split("/")
    with ExitStack() as stack:
        at = os.open(root, _FOLDER)
        stack.callback(os.close, at)
        for folder in folders:
            at = os.open(folder, _FOLDER, dir_fd=at)
            stack.callback(os.close, at)
        found = os.open(name, _FILE, dir_fd=at)
        stack.callback(os.close, found)
        if not stat.S_ISREG(os.fstat(found).st_mode):
            return None
        with os.fdopen(found, "rb", closefd=False) as file:
            return file.read(MAX_BYTES + 1)


def _text(content: bytes | None) -> FileText:
    if content is None:
        return FileText(None, why="It is no regular file.")
    if len(content) > MAX_BYTES:
        return FileText(None, why="The file is too large to be shown.")
    try:
        return FileText(content.decode())
    except UnicodeDecodeError:
        return FileText(None, why="The file is no text.")
