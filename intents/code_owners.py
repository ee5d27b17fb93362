"""Read who owns a path by the repository's `CODEOWNERS` file, where the workspace has a local root.

The rules are GitHub's: the first file that exists counts, the last line whose pattern matches decides, and a
line without owners says that nobody owns the path.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore import GitIgnorePatternError

from traces.local_files import read_regular_file

LOCATIONS = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
MAX_BYTES = 256 * 1024
MAX_LINES = 1_000
MAX_PATTERN_LENGTH = 200


def find_code_owners(local_root: str, path: str) -> tuple[str, ...]:
    """Return the owners of a workspace-relative path as written: `@ada`, `@acme/web`, an address."""
    for pattern, owners in reversed(list(_read_rules(local_root))):
        if _matches(pattern, path):
            return owners
    return ()


def _read_rules(local_root: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    for line in _read_file(local_root).splitlines()[:MAX_LINES]:
        words = line.split("#", 1)[0].split()
        # `!` and `[` mean nothing in GitHub's dialect; GitLab's headings of sections begin with `[` or `^[`.
        if words and len(words[0]) <= MAX_PATTERN_LENGTH and not words[0].startswith(("!", "[", "^[")):
            yield words[0], tuple(words[1:])


def _read_file(local_root: str) -> str:
    for location in LOCATIONS if local_root else ():
        try:
            return read_regular_file(Path(local_root, location), MAX_BYTES).decode("utf-8", errors="replace")
        except OSError:
            continue
    return ""


def _matches(pattern: str, path: str) -> bool:
    """Match as gitignore does, but for `docs/*`, which owns the files of `docs` and no subdirectory."""
    if not pattern.endswith("/*"):
        return _is_match(pattern, path)
    directory = pattern.removesuffix("/*")
    anchored = directory if directory.startswith(("/", "**/")) else f"/{directory}"
    parent = PurePosixPath(path).parent
    return _is_match(anchored, parent.as_posix()) and not _is_match(anchored, parent.parent.as_posix())


def _is_match(pattern: str, path: str) -> bool:
    try:
        # RE2, because the file may be an agent's work and pathspec's own backend can hang on it.
        return GitIgnoreSpec.from_lines([pattern], backend="re2").match_file(path)
    except GitIgnorePatternError:
        return False
