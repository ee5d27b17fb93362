"""List the files under a workspace's local root, without those that git ignores."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore import GitIgnorePatternError

# Not entered even where no .gitignore names them: they hold tens of thousands of files that nobody works on.
SKIPPED_DIRECTORIES = frozenset({".git", "node_modules", ".venv", "__pycache__"})
MAX_GITIGNORE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class _Gitignore:
    """The rules of one `.gitignore`, which speak of paths below its own directory."""

    directory: Path  # relative to the root
    spec: GitIgnoreSpec

    def verdict(self, path: Path, *, is_directory: bool) -> bool | None:
        """Return whether the rules ignore a path; None where none of them matches."""
        name = path.relative_to(self.directory).as_posix()
        return self.spec.check_file(f"{name}/" if is_directory else name).include


def walk_files(root: str) -> Iterator[str]:
    """Yield workspace-relative POSIX paths, directory by directory, sorted within each.

    Links are not followed. Untracked files that a `.gitignore` names are left out as git does it: the deepest
    `.gitignore` with a matching rule decides, and nothing below an ignored directory comes back.
    """
    rules_by_directory: dict[Path, tuple[_Gitignore, ...]] = {}
    for directory, directories, files in os.walk(root):
        here = Path(directory).relative_to(root)
        rules = rules_by_directory.pop(here, ())
        if ".gitignore" in files:
            rules = (*rules, _Gitignore(here, _read_gitignore(Path(directory, ".gitignore"))))
        directories[:] = sorted(
            name
            for name in set(directories) - SKIPPED_DIRECTORIES
            if not _is_ignored(here / name, rules, is_directory=True)
        )
        rules_by_directory.update((here / name, rules) for name in directories)
        yield from (
            (here / name).as_posix()
            for name in sorted(files)
            if not _is_ignored(here / name, rules, is_directory=False)
        )


def _is_ignored(path: Path, rules: Sequence[_Gitignore], *, is_directory: bool) -> bool:
    verdicts = (rule.verdict(path, is_directory=is_directory) for rule in reversed(rules))
    return next((verdict for verdict in verdicts if verdict is not None), False)


def read_regular_file(path: Path, limit: int) -> bytes:
    """Return at most `limit` bytes. Raise `OSError` for anything but a regular file.

    An agent may have put a FIFO or a link there: the one waits for ever, the other leads outside.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is not a regular file")
        return stream.read(limit)


def _read_gitignore(file: Path) -> GitIgnoreSpec:
    """Read a `.gitignore` without the lines that pathspec refuses; one that cannot be read has no rules."""
    try:
        text = read_regular_file(file, MAX_GITIGNORE_BYTES).decode("utf-8", errors="replace")
    except OSError:
        text = ""
    # RE2 matches in linear time; pathspec's other backend can hang on a pattern such as *a*a*a*a.
    return GitIgnoreSpec.from_lines(filter(_is_readable, text.splitlines()), backend="re2")


def _is_readable(line: str) -> bool:
    """Tell whether pathspec reads a line. git ignores a lone `!` or a trailing backslash; pathspec raises."""
    try:
        GitIgnoreSpec.from_lines([line], backend="re2")
    except GitIgnorePatternError:
        return False
    return True
