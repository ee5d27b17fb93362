"""What the core may ask about the files of a workspace.

The core never touches a disk. Whoever calls it hands in a `World`; `NoWorld` is the world of a
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
    """What the core may ask about files. Implementations live at the edge; they must not raise."""

    def resolve(self, path: str) -> ResolvedPath:
        """Follow links component by component; `path` is canonical but may hold `..` segments,
        which are applied after following. A rest that does not exist yet is kept as it is."""

    def exists(self, path: str) -> bool | None:
        """Whether the file is there; None when nobody knows (no disk, nothing in the ledger)."""

    def is_dir(self, path: str) -> bool | None: ...

    def list_files(self, path: str) -> Iterable[str] | None:
        """Files below a folder, workspace-relative; None when unknown or too many."""

    def list_names(self, path: str) -> Sequence[str] | None:
        """Names of what lies in a folder, none for what is no folder; None when unknown or too many. `path`
        may hold `..` segments, which are applied after following links."""

    def list_links(self, path: str) -> Iterable[str] | None:
        """Of the names below a folder, those that are symlinks; None when unknown or too many."""

    def content_hash(self, path: str) -> str | None:
        """`sha256:…` of the current bytes; "" when known to be gone; None when unknown."""

    def read_text(self, path: str) -> str | None:
        """What a file holds now; None when nobody knows, when it is very long or no text."""

    def list_session_changes(self) -> Collection[str]:
        """What the session may have changed already, under the intent that it works on."""

    def find_changes_by_others(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Of these paths, those that another live session changed since this one looked at them last: by
        which session."""


class UnknownFilesystem:
    """The world of a workspace without a disk: links lead nowhere, nothing is known."""

    def resolve(self, path: str) -> ResolvedPath:
        return resolve_lexically(path)

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
    kept: list[str] = []
    for segment in path.split("/"):
        if segment in {"", "."}:
            continue
        if segment != "..":
            kept.append(segment)
        elif kept:
            kept.pop()
        else:
            return ResolvedPath(Location.OUTSIDE)
    return ResolvedPath(Location.INSIDE, "/".join(kept))
