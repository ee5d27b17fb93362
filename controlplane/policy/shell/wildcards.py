"""Match bash wildcards against the files of a workspace on disk (pathname expansion)."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from controlplane.policy.paths.filesystem import Filesystem

MAX_MATCHES = 500
MAX_NAMES = 10_000  # compared with one segment
MAX_SEGMENTS = 6  # with wildcards: links that form a circle make the tree endless
SPECIAL = re.compile(r"[*?\[]")
# The quotes are gone, so where a character class begins and ends is not known: it counts as a star.
STARS = re.compile(r"\*+|\[.*\]", re.DOTALL)


def find_below(filesystem: Filesystem, directory: str) -> list[str] | None:
    """Return all paths below a directory, links not followed; None without a disk, or for too many."""
    if filesystem.is_dir(directory) is not True:
        return None
    found: list[str] = []
    pending = [directory]
    while pending:
        current = pending.pop()
        names = filesystem.list_names(current)
        if names is None or len(found) + len(names) > MAX_NAMES:
            return None
        paths = [_join(current, name) for name in names]
        found.extend(paths)
        pending.extend(
            path for path in paths if filesystem.is_dir(path) and filesystem.resolve(path).path == path
        )
    return found


def regex_to_glob(regex: str) -> str:
    """Return a glob that matches at least the names in which a regular expression is found.

    Groups, classes and repetitions are any text.
    """
    body = re.sub(r"\\(.)", r"[\1]", regex.removeprefix("^").removesuffix("$"))
    body = re.sub(r"\((?:[^()]*)\)|\[(?!.\])[^\]]*\]|\{[^}]*\}|(?<!\[)[.]?[*+?|]|(?<!\[)\.(?!\])", "*", body)
    name = body.rpartition("/")[2]
    start = "" if regex.startswith("^") else "*"
    return f"{start}{name}{'' if regex.endswith('$') else '*'}"


def fixed_directory(pattern: str) -> str:
    """Return the directory in front of a pattern's first wildcard: `src/auth` of `src/auth/*.ts`."""
    match = SPECIAL.search(pattern)
    fixed = pattern[: match.start()] if match else pattern
    return fixed.rpartition("/")[0] or ("/" if fixed.startswith("/") else ".")


def find_matches(filesystem: Filesystem, pattern: str) -> list[str] | None:
    """Return the workspace-relative paths that a workspace-relative pattern may match now.

    None when the disk is not known or there are too many matches. Links on the way are followed and `..`
    counts behind them, as for the kernel; both stay in the result, to be resolved later. A quoted wildcard
    counts as a wildcard, so the result may hold more than bash finds, never less.
    """
    parts = pattern.split("/")
    if sum(1 for part in parts if SPECIAL.search(part)) > MAX_SEGMENTS:
        return None
    paths = [""]
    for part in parts:
        if not SPECIAL.search(part):
            paths = [_join(directory, part) for directory in paths]
            continue
        matches = _match_segment(filesystem, paths, part)
        if matches is None or len(matches) > MAX_MATCHES:
            return None
        paths = matches
    return sorted(path for path in paths if filesystem.exists(path) is not False)


def may_match_parent(pattern: str, *, bare: bool) -> bool:
    """Return whether a segment may match `..`, as it did in bash before 5.2.

    `bare`: no quote or backslash stands in the word, so `.[!.]*` is a character class for certain.
    """
    dotted = [part for part in pattern.split("/") if part.startswith(".") and SPECIAL.search(part)]
    if bare:
        return any(fnmatchcase("..", part.replace("[^", "[!")) for part in dotted)
    return any(re.fullmatch(_translate_segment(part), "..", re.DOTALL) for part in dotted)


def _match_segment(filesystem: Filesystem, directories: list[str], part: str) -> list[str] | None:
    regex = re.compile(_translate_segment(part), re.DOTALL)
    paths: list[str] = []
    name_count = 0
    for directory in directories:
        names = filesystem.list_names(directory)
        name_count += len(names or ())
        if names is None or name_count > MAX_NAMES:
            return None
        paths.extend(_join(directory, name) for name in names if regex.fullmatch(name))
    return paths


def _join(directory: str, name: str) -> str:
    return f"{directory}/{name}" if directory else name


def _translate_segment(pattern: str) -> str:
    """Translate one segment to a regular expression.

    Its groups are atomic, so that no name makes it backtrack: text between two stars is taken where it
    comes first.
    """
    hidden = "" if pattern.startswith(".") else r"(?!\.)"
    first, *others = STARS.split(pattern)
    if not others:
        return hidden + _translate_text(first)
    *middle, last = (_translate_text(part) for part in others)
    return hidden + _translate_text(first) + "".join(f"(?>.*?{part})" for part in middle) + f".*{last}"


def _translate_text(part: str) -> str:
    """Translate a part of a segment without stars and classes."""
    return "".join("." if char == "?" else re.escape(char) for char in part)
