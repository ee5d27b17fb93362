"""Wildcards of bash against the files of a workspace that is on disk."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from controlplane.policy.paths.filesystem import Filesystem

MAX_MATCHES = 500
MAX_NAMES = 10_000  # looked at for one segment
MAX_SEGMENTS = 6  # with wildcards: where links lead round in circles there is no end to them
SPECIAL = re.compile(r"[*?\[]")
# Without its quotes nobody knows where a class begins and ends, or whether it is one: it counts as a star.
STARS = re.compile(r"\*+|\[.*\]", re.DOTALL)


def fixed_directory(pattern: str) -> str:
    """The folder of a pattern's longest part without a wildcard: `src/auth` of `src/auth/*.ts`."""
    found = SPECIAL.search(pattern)
    fixed = pattern[: found.start()] if found else pattern
    return fixed.rpartition("/")[0] or ("/" if fixed.startswith("/") else ".")


def find_matches(world: Filesystem, pattern: str) -> list[str] | None:
    """Workspace-relative paths, files and folders, that a workspace-relative pattern may match now.

    None when nobody knows, or it matches too much. Links on the way are followed, `..` counts behind them,
    as for the kernel; both stay in the names that are found, for whoever resolves them. Quoted wildcards are
    taken for wildcards, so there may be more here than bash finds; never fewer.
    """
    parts = pattern.split("/")
    if sum(1 for part in parts if SPECIAL.search(part)) > MAX_SEGMENTS:
        return None
    found = [""]
    for part in parts:
        if not SPECIAL.search(part):
            found = [_join(folder, part) for folder in found]
            continue
        step = _matching(world, found, part)
        if step is None or len(step) > MAX_MATCHES:
            return None
        found = step
    return sorted(path for path in found if world.exists(path) is not False)


def may_match_parent(pattern: str, *, bare: bool) -> bool:
    """Whether a segment may match `..`, as bash matched it before 5.2. `bare`: it stands in the command
    without quotes, so that `.[!.]*` is what it looks like."""
    dotted = [part for part in pattern.split("/") if part.startswith(".") and SPECIAL.search(part)]
    if bare:
        return any(fnmatchcase("..", part.replace("[^", "[!")) for part in dotted)
    return any(re.fullmatch(_segment(part), "..", re.DOTALL) for part in dotted)


def _matching(world: Filesystem, folders: list[str], part: str) -> list[str] | None:
    wanted = re.compile(_segment(part), re.DOTALL)
    found: list[str] = []
    seen = 0
    for folder in folders:
        names = world.list_names(folder)
        seen += len(names or ())
        if names is None or seen > MAX_NAMES:
            return None
        found.extend(_join(folder, name) for name in names if wanted.fullmatch(name))
    return found


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _segment(pattern: str) -> str:
    """A regular expression for one segment. What stands between two stars is taken where it comes first, and
    for good: no name can make this slow."""
    hidden = "" if pattern.startswith(".") else r"(?!\.)"
    first, *others = STARS.split(pattern)
    if not others:
        return hidden + _fixed(first)
    *middle, last = (_fixed(part) for part in others)
    return hidden + _fixed(first) + "".join(f"(?>.*?{part})" for part in middle) + f".*{last}"


def _fixed(part: str) -> str:
    """A part of a segment without stars and classes."""
    return "".join("." if char == "?" else re.escape(char) for char in part)
