"""Read the history of one file from the git repository that contains the workspace.

git only lists and reads objects, without filters and text conversions, within SECONDS in total.
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
MAX_TIMESTAMP = 253_402_300_799  # the last second of the year 9999: a commit may state any time
LOG_OPTIONS = (
    "--parents",
    "--topo-order",
    "--reverse",
    "-z",
    "--format=%H%n%P%n%ct%n%an",
    "--no-notes",
    "--no-patch",
)


class GitReadError(Exception):
    """git failed."""


class GitLimitError(GitReadError):
    """git took too long, or its output was too large."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit. `parents` are those in the history of one path; `timestamp` is in seconds since 1970.

    `author` is the name that the commit states; nobody has verified it.
    """

    revision: str
    parents: tuple[str, ...]
    timestamp: int
    author: str

    @property
    def committed_at(self) -> datetime:
        return datetime.fromtimestamp(self.timestamp, UTC)


class GitReader:
    """Read from a directory inside of a repository; all commands together end after SECONDS."""

    def __init__(self, root: str, seconds: float = SECONDS) -> None:
        self._root = root
        self._deadline = time.monotonic() + seconds
        self._prefix = ""

    def read_head(self) -> str:
        """Return the checked-out commit. Raises GitReadError without a repository or a commit."""
        output = self._git("rev-parse", "--show-prefix", "HEAD^{commit}").decode("utf-8", "surrogateescape")
        self._prefix, _, revision = output.removesuffix("\n").rpartition("\n")
        return revision

    def read_log(self, revision: str, path: str, limit: int) -> list[Commit]:
        """Return the newest commits that changed a path, oldest first, with parents among themselves."""
        output = self._git("log", *LOG_OPTIONS, f"--max-count={limit}", revision, "--", path)
        return [_parse_commit(text) for text in output.decode("utf-8", "replace").split("\0") if text.strip()]

    def find_blobs(self, names: list[tuple[str, str]]) -> list[tuple[str, int] | None]:
        """Return (object, bytes) of each path at a commit; None where there is no file."""
        request = "".join(f"{revision}:{self._prefix}{path}\n" for revision, path in names)
        output = self._git("cat-file", "--batch-check", stdin=request.encode("utf-8", "surrogateescape"))
        lines = output.split(b"\n")[: len(names)]
        return [_parse_blob(line) for line in lines]

    def read_blobs(self, objects: list[str]) -> dict[str, bytes]:
        """Return the bytes of these blobs."""
        output = self._git("cat-file", "--batch", stdin="".join(f"{name}\n" for name in objects).encode())
        contents: dict[str, bytes] = {}
        position = 0
        for name in objects:
            line_end = output.index(b"\n", position)
            size = int(output[position:line_end].rsplit(b" ", 1)[-1])
            contents[name] = output[line_end + 1 : line_end + 1 + size]
            position = line_end + 1 + size + 1
        return contents

    def find_renames(self, revision: str) -> list[tuple[str, str]]:
        """Return (old path, new path) of the files that a commit renamed, as git detects them."""
        output = self._git(
            "diff-tree", "-r", "-z", "-M", "--name-status", "--diff-filter=R", "--relative",
            "--no-ext-diff", "--no-textconv", f"{revision}^1", revision,
        ).decode("utf-8", "surrogateescape")  # fmt: skip
        fields = output.split("\0")
        return list(zip(fields[1::3], fields[2::3], strict=False))

    def _git(self, *arguments: str, stdin: bytes = b"") -> bytes:
        seconds_left = self._deadline - time.monotonic()
        if seconds_left <= 0:
            raise GitLimitError
        with (
            tempfile.TemporaryFile() as stdin_file
        ):  # a pipe could fill up while git waits for its output to be read
            stdin_file.write(stdin)
            stdin_file.seek(0)
            try:
                process = subprocess.Popen(  # noqa: S603 - fixed arguments; paths come after "--" or on stdin
                    [*GIT, "--literal-pathspecs", "-C", self._root, *arguments],
                    stdin=stdin_file,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env=git_environment(),
                )
            except (OSError, ValueError) as error:
                raise GitReadError(str(error)) from error
            return _read_output(process, seconds_left)


def _read_output(process: subprocess.Popen[bytes], seconds: float) -> bytes:
    """Return the complete output, or raise."""
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    try:
        with process:
            assert process.stdout is not None
            output = process.stdout.read(MAX_OUTPUT + 1)
            if len(output) > MAX_OUTPUT:
                process.kill()
    finally:
        timer.cancel()
    if len(output) > MAX_OUTPUT or process.returncode < 0:
        raise GitLimitError
    if process.returncode:
        raise GitReadError
    return output


def _parse_commit(text: str) -> Commit:
    revision, parents, seconds, author = text.split("\n", 3)
    timestamp = min(max(int(seconds), 0), MAX_TIMESTAMP)
    return Commit(revision, tuple(parents.split()), timestamp, author.strip())


def _parse_blob(line: bytes) -> tuple[str, int] | None:
    fields = line.rsplit(b" ", 2)
    return (fields[0].decode(), int(fields[2])) if len(fields) == 3 and fields[1] == b"blob" else None
