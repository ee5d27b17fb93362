"""The history of one file, read from the git repository that holds the workspace's folder.

git only lists and reads objects here, without filters and text conversions, and ends after SECONDS in all.
"""

from __future__ import annotations

import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime

from traces.safe_git import GIT, git_environment

SECONDS = 2.0
MAX_OUTPUT = 16 * 1024 * 1024
LATEST = 253_402_300_799  # the last second of the year 9999: a commit may tell any time
LOG = (
    "--parents",
    "--topo-order",
    "--reverse",
    "-z",
    "--format=%H%n%P%n%ct%n%an",
    "--no-notes",
    "--no-patch",
)


class GitError(Exception):
    """git could not do it."""


class GitTooSlowError(GitError):
    """The time was over, or it had more to say than is read."""


@dataclass(frozen=True, slots=True)
class Commit:
    """`parents` are those of the history of one path. `seconds` since 1970; `author` is the name that it
    tells."""

    revision: str
    parents: tuple[str, ...]
    seconds: int
    author: str

    @property
    def at(self) -> datetime:
        return datetime.fromtimestamp(self.seconds, UTC)


class Repository:
    """A folder inside a repository; all questions together end after SECONDS."""

    def __init__(self, root: str, seconds: float = SECONDS) -> None:
        self._root = root
        self._ends = time.monotonic() + seconds
        self._prefix = ""

    def head(self) -> str:
        """The commit that is checked out. Raises GitError without a repository or a commit."""
        told = self._git("rev-parse", "--show-prefix", "HEAD^{commit}").decode("utf-8", "surrogateescape")
        self._prefix, _, revision = told.removesuffix("\n").rpartition("\n")
        return revision

    def log(self, revision: str, path: str, most: int) -> list[Commit]:
        """The newest commits that changed a path, the oldest first, their parents among themselves."""
        told = self._git("log", *LOG, f"--max-count={most}", revision, "--", path)
        return [_commit(text) for text in told.decode("utf-8", "replace").split("\0") if text.strip()]

    def blobs(self, names: list[tuple[str, str]]) -> list[tuple[str, int] | None]:
        """(object, bytes) of each path at a commit; None where there is no file."""
        asked = "".join(f"{revision}:{self._prefix}{path}\n" for revision, path in names)
        told = self._git("cat-file", "--batch-check", given=asked.encode("utf-8", "surrogateescape"))
        lines = told.split(b"\n")[: len(names)]
        return [_blob(line) for line in lines]

    def contents(self, objects: list[str]) -> dict[str, bytes]:
        """The bytes of these blobs."""
        told = self._git("cat-file", "--batch", given="".join(f"{one}\n" for one in objects).encode())
        found: dict[str, bytes] = {}
        at = 0
        for one in objects:
            line_end = told.index(b"\n", at)
            size = int(told[at:line_end].rsplit(b" ", 1)[-1])
            found[one] = told[line_end + 1 : line_end + 1 + size]
            at = line_end + 1 + size + 1
        return found

    def renames(self, revision: str) -> list[tuple[str, str]]:
        """(old path, new path) of the files below the folder that a commit renamed, as git takes it to be."""
        told = self._git(
            "diff-tree", "-r", "-z", "-M", "--name-status", "--diff-filter=R", "--relative",
            "--no-ext-diff", "--no-textconv", f"{revision}^1", revision,
        ).decode("utf-8", "surrogateescape")  # fmt: skip
        words = told.split("\0")
        return list(zip(words[1::3], words[2::3], strict=False))

    def _git(self, *words: str, given: bytes = b"") -> bytes:
        left = self._ends - time.monotonic()
        if left <= 0:
            raise GitTooSlowError
        with tempfile.TemporaryFile() as asked:  # a pipe could fill while git waits to be read
            asked.write(given)
            asked.seek(0)
            try:
                process = subprocess.Popen(  # noqa: S603 - fixed words; paths stand behind "--" or in the input
                    [*GIT, "--literal-pathspecs", "-C", self._root, *words],
                    stdin=asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=git_environment(),
                )  # fmt: skip
            except (OSError, ValueError) as error:
                raise GitError(str(error)) from error
            return _read(process, left)


def _read(process: subprocess.Popen[bytes], seconds: float) -> bytes:
    """What it says, whole or not at all."""
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    try:
        with process:
            assert process.stdout is not None
            told = process.stdout.read(MAX_OUTPUT + 1)
            if len(told) > MAX_OUTPUT:
                process.kill()
    finally:
        timer.cancel()
    if len(told) > MAX_OUTPUT or process.returncode < 0:
        raise GitTooSlowError
    if process.returncode:
        raise GitError
    return told


def _commit(text: str) -> Commit:
    revision, parents, seconds, author = text.split("\n", 3)
    when = min(max(int(seconds), 0), LATEST)
    return Commit(revision, tuple(parents.split()), when, author.strip())


def _blob(line: bytes) -> tuple[str, int] | None:
    words = line.rsplit(b" ", 2)
    return (words[0].decode(), int(words[2])) if len(words) == 3 and words[1] == b"blob" else None
