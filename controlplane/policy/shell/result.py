"""What the shell analysis returns, and the one exception it uses inside."""

from __future__ import annotations

from dataclasses import dataclass

from controlplane.policy.model import Unknown


@dataclass(frozen=True, slots=True)
class ShellPath:
    """A path that a command touches.

    `raw` is the word as the shell would pass it, without trailing slashes; an unquoted `~` stays in
    front, a quoted one becomes `./~`. `cwd` is the workspace-relative folder that a relative `raw`
    is resolved against. Where the folder lies outside the workspace it is written into `raw`
    (`../outside/a.txt`), so `cwd` is always canonical. `start` and `end` are offsets into the
    command, in code points.
    """

    raw: str
    cwd: str
    op: str = "write"  # write | delete | move | mode | link | folder | read
    recursive: bool = False  # everything below it as well
    start: int = 0
    end: int = 0
    pattern: str = ""  # a wildcard that the folder is looked through with, of unknown matches


@dataclass(frozen=True, slots=True)
class CommandPart:
    """One simple command, for the reviewer's page. Offsets in code points."""

    text: str
    start: int
    end: int
    verdict: str  # reads | writes | deletes | moves | runs | unknown


@dataclass(frozen=True, slots=True)
class ShellAnalysis:
    """What a command would do.

    `safe`: every part is a known read-only command, nothing is written, nothing is unknown.
    Without `unknown`, `writes` is complete.
    """

    safe: bool
    writes: tuple[ShellPath, ...] = ()
    reads: tuple[ShellPath, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    parts: tuple[CommandPart, ...] = ()


class UnclearCommandError(Exception):
    """A piece of the command cannot be judged; never leaves this package.

    `span` is a pair of byte offsets when the piece is smaller than the command it stands in.
    """

    def __init__(self, reason: str, span: tuple[int, int] | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.span = span
