"""Trace what a command changes with `strace`.

Reported is every file that it opens for writing, creates, renames or removes, or whose mode, owner or times it
sets. A comparison of the tree before and after would miss what is written and comes out the same.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

OPENING = ("open", "openat", "creat")
# Which of the paths that a call names it changes: all of them, or the last.
CHANGING = {
    **dict.fromkeys(("rename", "renameat", "renameat2"), slice(None)),
    **dict.fromkeys(("unlink", "unlinkat", "rmdir", "mkdir", "mkdirat", "mknod", "mknodat"), slice(None)),
    **dict.fromkeys(("link", "linkat", "symlink", "symlinkat"), slice(-1, None)),
    **dict.fromkeys(("chmod", "fchmodat", "chown", "lchown", "fchownat", "truncate"), slice(None)),
    **dict.fromkeys(("utime", "utimes", "utimensat", "fchmod", "fchown", "ftruncate"), slice(None)),
}
FORKING = ("fork", "vfork", "clone", "clone3")
MOVING = ("chdir", "fchdir")
TRACED = ",".join(f"?{name}" for name in (*OPENING, *CHANGING, *FORKING, *MOVING))

LINE = re.compile(r"(\d+)\s+(.*)")
CALL = re.compile(r"(\w+)\((.*)\)\s+= (\d+)")
UNFINISHED = " <unfinished ...>"
RESUMED = re.compile(r"<\.\.\. \w+ resumed>(.*)")
NAMED = re.compile(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"')
OPENED = re.compile(r"\d+<(/[^>]*)>")
WRITES = re.compile(r"O_(?:WRONLY|RDWR|CREAT|TRUNC)")
# Temporary files that a program renames to its target.
TEMPORARY = re.compile(r"(?:sed|Cu)[A-Za-z0-9]{6}")


@cache
def missing_reason() -> str | None:
    """Return why nothing can be traced here, or None."""
    if shutil.which("strace") is None:
        return "strace is missing: install the Debian package strace"
    done = subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True, check=False)
    return None if done.returncode == 0 else f"strace may not trace here: {done.stderr.decode()[:200]}"


def written_by(command: list[str], cwd: Path, env: dict[str, str]) -> set[str]:
    """Return the absolute paths that a command changes, `..` resolved by text."""
    with TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        options = [
            "-f",
            "-y",
            "-qq",
            "-s",
            "4096",
            "-e",
            f"trace={TRACED}",
            "-e",
            "signal=none",
            "-o",
            str(log),
        ]
        subprocess.run(
            ["strace", *options, *command],
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
        found = set(_Replay(_calls(log.read_text(errors="replace"))).paths(str(cwd)))
    return {path for path in found if not TEMPORARY.fullmatch(path.rpartition("/")[2])}


Calls = dict[str, list[tuple[str, str, str]]]  # process -> name, arguments and result of each call


def _calls(log: str) -> Calls:
    """Return the calls that succeeded by process, in order; the first process comes first."""
    calls: Calls = {}
    begun: dict[str, str] = {}
    for line in log.splitlines():
        process, text = LINE.fullmatch(line).groups()
        calls.setdefault(process, [])  # the first to appear is the first of all
        if text.endswith(UNFINISHED):
            begun[process] = text.removesuffix(UNFINISHED)
            continue
        if resumed := RESUMED.fullmatch(text):
            text = begun.pop(process) + resumed[1]
        if call := CALL.match(text):
            calls[process].append((call[1], call[2], call[3]))
    return calls


@dataclass
class _Replay:
    """Replays the calls process by process: a child begins in the directory of its parent."""

    calls: Calls
    seen: set[str] = field(default_factory=set)

    def paths(self, cwd: str) -> Iterator[str]:
        yield from self._process(next(iter(self.calls)), cwd)
        if self.seen != self.calls.keys():
            raise AssertionError(f"processes without a parent: {self.calls.keys() - self.seen}")

    def _process(self, process: str, cwd: str) -> Iterator[str]:
        self.seen.add(process)
        for name, arguments, result in self.calls[process]:
            if name in FORKING and result in self.calls:
                yield from self._process(result, cwd)
            named = list(_named(arguments, cwd))
            if name in MOVING:
                cwd = named[0]
            elif name in CHANGING:
                yield from named[CHANGING[name]]
            elif name == "creat" or (name in OPENING and WRITES.search(arguments)):
                yield named[0]


def _named(arguments: str, cwd: str) -> Iterator[str]:
    """Yield the paths that a call names; a descriptor counts where it names none."""
    found = NAMED.findall(arguments)
    for folder, name in found:
        yield _joined(_text(folder) or cwd, _text(name))
    if not found and (opened := OPENED.match(arguments)):
        yield _text(opened[1])


def _text(shown: str) -> str:
    """Decode the escapes of strace."""
    return shown.encode().decode("unicode_escape").encode("latin-1").decode("utf-8", "replace")


def _joined(folder: str, name: str) -> str:
    parts: list[str] = []
    for part in (name if name.startswith("/") else f"{folder}/{name}").split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)
