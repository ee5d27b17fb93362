"""Wildcards of bash against the files of a workspace that is on disk."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from controlplane.policy.shell.folders import is_inside

if TYPE_CHECKING:
    from controlplane.policy.world import World

MAX_MATCHES = 500
MAX_STARS = 4  # more of them make a regular expression slow
SPECIAL = re.compile(r"[*?\[]")


def fixed_folder(pattern: str) -> str:
    """The folder of a pattern's longest part without a wildcard: `src/auth` of `src/auth/*.ts`."""
    found = SPECIAL.search(pattern)
    fixed = pattern[: found.start()] if found else pattern
    return fixed.rpartition("/")[0] or ("/" if fixed.startswith("/") else ".")


def matches(world: World, pattern: str) -> list[str] | None:
    """Workspace-relative paths, files and folders, that a workspace-relative pattern may match.

    None when it leaves the workspace or matches too much. Quoted wildcards are taken for wildcards, so
    there may be more here than bash finds; never fewer.
    """
    folder = fixed_folder(pattern)
    bounded = pattern.count("*") <= MAX_STARS and is_inside(folder)
    files = world.below("" if folder == "." else folder) if bounded else None
    if files is None:
        return None
    depth = pattern.count("/") + 1
    wanted = re.compile("/".join(_segment(part) for part in pattern.split("/")), re.DOTALL)
    names = ("/".join(file.split("/")[:depth]) for file in files)
    found = {name for name in names if wanted.fullmatch(name)}
    return sorted(found) if len(found) <= MAX_MATCHES else None


def _segment(pattern: str) -> str:
    """A regular expression for one segment; a class is taken for any character."""
    hidden = "" if pattern.startswith(".") else r"(?!\.)"
    pieces = re.findall(r"\*+|\[[!^]?\]?[^\]]*\]|\?|.", pattern, re.DOTALL)
    return hidden + "".join(_piece(piece) for piece in pieces)


def _piece(piece: str) -> str:
    if piece.startswith("*"):
        return "[^/]*"
    if piece == "?" or (piece.startswith("[") and len(piece) > 1):
        return "[^/]"
    return re.escape(piece)
