"""What the core may ask about the files of a workspace.

The core never touches a disk. Its caller passes a `Filesystem`; `UnknownFilesystem` stands for a
workspace that is not on this machine.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Location(StrEnum):
    """Where a path leads on the workspace's disk."""

    INSIDE = "inside"
    OUTSIDE = "outside"
    LOOP = "loop"  # more than 40 links


@dataclass(frozen=True, slots=True)
class ResolvedPath:
    """A canonical path followed through symlinks. `path` is workspace-relative when inside."""

    location: Location
    path: str = ""


class Filesystem(Protocol):
    """Files of one workspace, for reading. Implementations live outside of the core and must not raise.

    None always means that nobody knows: no disk, nothing in the ledger, or too much to list.
    """

    def resolve(self, path: str) -> ResolvedPath:
        """Follow links component by component.

        `path` is canonical but may hold `..` segments, which are applied after following. A part
        that does not exist yet is kept as it is.
        """

    def resolve_outside(self, path: str) -> str | None:
        """Return where an absolute path outside the workspace leads on this machine; None if not known."""

    def exists(self, path: str) -> bool | None:
        """Return whether the file is there."""

    def is_dir(self, path: str) -> bool | None: ...

    def list_files(self, path: str) -> Iterable[str] | None:
        """Return the files below a directory, workspace-relative."""

    def list_names(self, path: str) -> Sequence[str] | None:
        """Return the names in a directory; none for what is no directory.

        `path` may hold `..` segments, which are applied after following links.
        """

    def list_links(self, path: str) -> Iterable[str] | None:
        """Return the names below a directory that are symlinks."""

    def content_hash(self, path: str) -> str | None:
        """Return `sha256:…` of the current bytes; "" when the file is known to be gone."""

    def read_text(self, path: str) -> str | None:
        """Return what a file holds now; None also when it is very long or no text."""

    def list_session_changes(self) -> Collection[str]:
        """Return the paths that the session may have changed already, under its current intent."""

    def find_changes_by_others(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Map those of these paths that another live session changed, since this session last looked
        at them, to the id of that session."""


class UnknownFilesystem:
    """A workspace without a disk: paths hold no links, and nothing is known."""

    def resolve(self, path: str) -> ResolvedPath:
        return resolve_lexically(path)

    def resolve_outside(self, path: str) -> str | None:
        return None

    def exists(self, path: str) -> bool | None:
        return None

    def is_dir(self, path: str) -> bool | None:
        return None

    def list_files(self, path: str) -> Iterable[str] | None:
        return None

    def list_names(self, path: str) -> Sequence[str] | None:
        return None

    def list_links(self, path: str) -> Iterable[str] | None:
        return None

    def content_hash(self, path: str) -> str | None:
        return None

    def read_text(self, path: str) -> str | None:
        return None

    def list_session_changes(self) -> Collection[str]:
        return ()

    def find_changes_by_others(self, paths: Sequence[str]) -> Mapping[str, str]:
        return {}


def resolve_lexically(path: str) -> ResolvedPath:
    """Apply `.` and `..` as text: what a path means where there are no links."""
    segments: list[str] = []
    for segment in path.split("/"):
        if segment in {"", "."}:
            continue
        if segment != "..":
            segments.append(segment)
        elif segments:
            segments.pop()
        else:
            return ResolvedPath(Location.OUTSIDE)
    return ResolvedPath(Location.INSIDE, "/".join(segments))
