"""What the shell analysis returns, and the exception that it uses inside."""

from __future__ import annotations

from dataclasses import dataclass

from controlplane.policy.effects import PartEffect
from controlplane.policy.model import Unknown
from controlplane.policy.paths.raw_path import RawPattern

Span = tuple[int, int]  # byte offsets in a command: start, end


@dataclass(frozen=True, slots=True)
class ShellPath:
    """A path that a command reads or changes.

    `raw` is the word as the shell would pass it, without trailing slashes; an unquoted `~` stays in
    front, a quoted one becomes `./~`. `cwd` is the workspace-relative directory that a relative `raw`
    is resolved against. Where that directory lies outside the workspace it is written into `raw`
    (`../outside/a.txt`), so `cwd` is always canonical. `start` and `end` are offsets into the
    command, in code points.
    """

    raw: str
    cwd: str
    op: str = "write"  # write | delete | move | mode | link | folder | read
    recursive: bool = False  # with everything below it
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class CommandPart:
    """One simple command, as the approval page shows it. Offsets in code points."""

    text: str
    start: int
    end: int
    verdict: str  # reads | writes | deletes | moves | runs | unknown


@dataclass(frozen=True, slots=True)
class ShellAnalysis:
    """What a command would do.

    `safe`: every part is a known read-only command, nothing is written, nothing is unknown.
    `writes` is complete only where `unknown` is empty. `effects` has every part, also what is unknown.
    """

    safe: bool
    writes: tuple[ShellPath, ...] = ()
    reads: tuple[ShellPath, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    parts: tuple[CommandPart, ...] = ()
    effects: tuple[PartEffect, ...] = ()
    patterns: tuple[RawPattern, ...] = ()
    directories: tuple[str, ...] | None = ("",)  # where the shell may be at the end, None when unknown
    links: frozenset[ShellPath] = frozenset()  # writes that may put a link at their path


class UnclearCommandError(Exception):
    """A piece of a command cannot be judged; caught inside this package and recorded as unknown.

    `reason` is shown to people. `span`, in bytes, is given where the piece is smaller than its command.
    """

    def __init__(self, reason: str, span: Span | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.span = span


class UnknownUsageError(UnclearCommandError):
    """The tables of readers and writers do not have this use of a program; the table of kinds may."""
