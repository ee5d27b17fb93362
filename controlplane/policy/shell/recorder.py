"""Record the effects of one command: what it reads and writes, and what about it is unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from controlplane.policy.effects import LOOKING, Effect, PartEffect
from controlplane.policy.model import Unknown
from controlplane.policy.paths.filesystem import Filesystem, Location
from controlplane.policy.paths.raw_path import PatternUse, RawPattern
from controlplane.policy.shell.command_text import CommandText
from controlplane.policy.shell.lexical_path import CommandPath, is_inside, resolve_lexically
from controlplane.policy.shell.result import CommandPart, ShellAnalysis, ShellPath, Span, UnclearCommandError
from controlplane.policy.shell.shells import AS_BASH, ONLY_BASH, Reading, Shells

MAX_COMMANDS = 300  # simple commands, loops unrolled
MAX_PATHS = 1_000
MAX_LINKS = 40
MAX_NESTED_LENGTH = 32 * 1024  # of all strings that are run as commands, loops unrolled
# The verdict on a part by its operations, the strongest first.
VERDICTS = (
    ("delete", "deletes"),
    ("move", "moves"),
    ("write", "writes"),
    ("mode", "writes"),
    ("link", "writes"),
    ("folder", "writes"),
)

# Operations that follow a link at the path itself; others change the link.
FOLLOWS = frozenset({"write", "mode", "folder"})


@dataclass(frozen=True, slots=True)
class AnalysisContext:
    """What an analysis knows about the workspace."""

    root: str | None
    filesystem: Filesystem
    safe_commands: tuple[str, ...]
    shells: Shells = ONLY_BASH
    reading: Reading = AS_BASH


AnalyseNested = Callable[[str, str, Shells], ShellAnalysis]  # (command, directory, shells that may run it)


@dataclass(frozen=True, slots=True)
class _Link:
    """A name that may be a link once the command has run, and the write that makes it."""

    key: str
    maker: ShellPath


@dataclass(frozen=True, slots=True)
class Mark:
    """A position in the record: how much stood in it before a part began."""

    ops: int
    unknown: int
    claims: int


@dataclass(frozen=True, slots=True)
class _Claim:
    """An effect of the part at hand, before its text is known."""

    kind: str
    effect: Effect
    why: str
    is_listed: bool = False


class Recorder:
    """Collects the effects of one command. Takes spans in bytes and returns them in code points."""

    def __init__(self, source: CommandText, context: AnalysisContext, analyse_nested: AnalyseNested) -> None:
        self.source = source
        self._nested = analyse_nested
        self.root = context.root
        self.filesystem = context.filesystem
        self.safe_commands = context.safe_commands
        self.shells = context.shells
        self.reading = context.reading
        self.on_disk = self.filesystem.is_dir("") is True
        self.has_removed = False  # what the disk says may not hold any more
        self.jump_count = 0  # uses of `break` and `continue`
        self.exports_variables = False  # such as may change what a program of the workspace does
        self.exec_redirects = 0  # uses of `exec` without a program, which may redirect standard input
        self.has_acted = False  # a program ran whose effects are no list of paths
        self.has_run_program = False  # the part at hand runs code that the analysis does not know
        self.filled_variables: set[str] = set()  # set by `read` to text from outside
        self.created_directories: set[str] = set()
        self.written_with_slash: set[str] = set()  # keys; a slash at the end goes through a link
        self._ops: list[str] = []
        self._links: list[_Link] = []
        self._matched: set[ShellPath] = set()
        self._writes: dict[ShellPath, str] = {}
        self._reads: dict[ShellPath, None] = {}
        self._patterns: dict[RawPattern, None] = {}
        self._listed: dict[RawPattern, None] = {}
        self.reads_listed = False  # a program reads files whose names another one has listed
        self._unknown: dict[Unknown, None] = {}
        self._parts: list[CommandPart] = []
        self._claims: list[_Claim] = []
        self._effects: dict[PartEffect, None] = {}
        self._commands = 0
        self._nested_length = 0

    def count_command(self) -> None:
        """Count one simple command; raises UnclearCommandError when there are too many."""
        self._commands += 1
        if self._commands > MAX_COMMANDS or len(self._writes) + len(self._reads) > MAX_PATHS:
            raise UnclearCommandError("the command is too long to analyse")

    @property
    def is_exhausted(self) -> bool:
        """Whether the command is too long: nothing more of it is walked."""
        return self._commands > MAX_COMMANDS

    def add_write(
        self,
        path: CommandPath,
        op: str,
        location: Span,
        *,
        recursive: bool = False,
        may_link: bool = False,
    ) -> ShellPath:
        """Record a write; `may_link`: it may put a link at `path`, or links below it."""
        start, end = self._offsets(location)
        written = ShellPath(path.raw, path.cwd, op, recursive, start, end)
        self._writes[written] = path.key
        self._ops.append(op)
        self.has_removed |= op in ("delete", "move")
        if may_link:
            self._links.append(_Link(path.key, written))
        return written

    def add_matched_write(self, path: CommandPath, op: str, location: Span, *, recursive: bool) -> None:
        """Record a write to a path that a wildcard matched."""
        self._matched.add(self.add_write(path, op, location, recursive=recursive))

    def add_read(self, path: CommandPath, *, recursive: bool, location: Span) -> None:
        start, end = self._offsets(location)
        self._reads[ShellPath(path.raw, path.cwd, "read", recursive, start, end)] = None

    def add_pattern(self, path: CommandPath, use: PatternUse) -> None:
        """Record files that are read without being named."""
        self._patterns[RawPattern(path.raw, path.cwd, use)] = None

    def add_listed(self, path: CommandPath, use: PatternUse) -> None:
        """Record files whose names are listed: they count where a reader gets the list."""
        self._listed[RawPattern(path.raw, path.cwd, use)] = None

    def add_unknown(self, reason: str, location: Span) -> None:
        start, end = self._offsets(location)
        self._unknown[Unknown(self.source.text[start:end], reason, start, end)] = None

    def mark(self) -> Mark:
        """Begin a part."""
        self.has_run_program = False
        return Mark(len(self._ops), len(self._unknown), len(self._claims))

    def has_written(self, mark: Mark) -> bool:
        return len(self._ops) > mark.ops

    def trust(self, mark: Mark) -> None:
        """Forget what was unknown since `mark`: the policy lists the command as safe."""
        for unknown in list(self._unknown)[mark.unknown :]:
            del self._unknown[unknown]
        trusted = [replace(claim, is_listed=True) for claim in self._claims[mark.claims :]]
        self._claims[mark.claims :] = trusted

    def claim(self, kind: str, effect: Effect, reason: str, *, is_listed: bool = False) -> None:
        """Record an effect of the part at hand; `kind` is "" for a dangerous form of a command."""
        self._claims.append(_Claim(kind, effect, reason, is_listed))
        self.has_acted |= effect not in LOOKING

    def add_part(self, location: Span, mark: Mark) -> None:
        """Record a simple command whose effects stand behind `mark`."""
        start, end = self._offsets(location)
        text = self.source.text[start:end]
        part = CommandPart(text, start, end, self._verdict(mark))
        if part not in self._parts[-8:]:  # each round of a loop repeats its commands
            self._parts.append(part)
        claims = self._claims[mark.claims :]
        if not claims and len(self._unknown) == mark.unknown:
            writes = len(self._ops) > mark.ops
            claims = [_WRITES if writes else _READS]
        del self._claims[mark.claims :]
        for claim in claims:
            effect = PartEffect(text, claim.kind, claim.effect, claim.why, start, end, claim.is_listed)
            self._effects[effect] = None

    def _verdict(self, mark: Mark) -> str:
        if self.has_run_program:
            return "runs"
        if len(self._unknown) > mark.unknown:
            return "unknown"
        ops = self._ops[mark.ops :]
        return next((verdict for op, verdict in VERDICTS if op in ops), "reads")

    def analyse_nested(self, text: str, directory: str, shells: Shells) -> ShellAnalysis:
        """Analyse a string that is run as a command; raises UnclearCommandError where it is too much."""
        self._nested_length += len(text)
        if self._nested_length > MAX_NESTED_LENGTH:
            raise UnclearCommandError("the command is too long to analyse")
        return self._nested(text, directory, shells)

    def add_nested_writes(self, analysis: ShellAnalysis, location: Span) -> None:
        """Record what a string that is run as a command would write, with the span of the string."""
        for path in analysis.writes:
            resolved = resolve_lexically(path.cwd, path.raw, self.root)
            may_link = path in analysis.links
            self.add_write(resolved, path.op, location, recursive=path.recursive, may_link=may_link)

    def add_nested(self, analysis: ShellAnalysis, location: Span) -> None:
        """Record all that a string which is run as a command does."""
        self.add_nested_writes(analysis, location)
        start, end = self._offsets(location)
        self._patterns.update(dict.fromkeys(analysis.patterns))
        for read in analysis.reads:
            self._reads[replace(read, start=start, end=end)] = None
        for effect in analysis.effects:
            if effect.effect is Effect.UNKNOWN:
                self._unknown[Unknown(effect.part, effect.why, start, end)] = None
            elif effect.effect not in _BY_PATH or effect.kind:
                self.claim(effect.kind, effect.effect, effect.why, is_listed=effect.is_listed)
        self.has_run_program |= any(part.verdict == "runs" for part in analysis.parts)

    @property
    def has_unknown(self) -> bool:
        """Whether something ran that may have changed anything."""
        return bool(self._unknown) or self.has_acted

    def is_directory(self, path: CommandPath) -> bool:
        """Return whether the disk says that a path is a directory.

        This command may have removed it before, but then the path is among the writes already.
        """
        return path.key not in self.created_directories and self._ask_disk(path) is True

    def may_be_directory(self, path: CommandPath) -> bool:
        """Return whether a path may be a directory by the time the command gets there.

        Without a disk a name with an extension is taken for a file: otherwise every copy into a scope of
        `*.ts` would be refused.
        """
        if path.key in self.created_directories:
            return True
        known = self._ask_disk(path)
        return "." not in path.key.rpartition("/")[2].lstrip(".") if known is None else known

    def may_be_missing(self, path: CommandPath) -> bool:
        """Return whether a directory may not exist: any outside of the workspace, but for a home (`~`)."""
        outside = not is_inside(path.key) and "/" in path.key
        return outside or self._ask_disk(path) is False

    def find_links(self, path: CommandPath, location: Span) -> list[CommandPath]:
        """Return the links below a directory; raises UnclearCommandError where it holds too many files."""
        if self._ask_disk(path) is not True:
            return []
        names = self.filesystem.list_links(path.key)
        if names is None:
            raise UnclearCommandError("too many files to search for symbolic links", location)
        return [CommandPath(name, "", name) for name in names]

    def may_exist(self, file: str) -> bool:
        """Return whether a file of the workspace is on disk, or may be made by this command."""
        if self.on_disk and self.filesystem.exists(file) is True:
            return True
        return any(
            key == file or (path.recursive and path.op != "delete" and file.startswith(key + "/"))
            for path, key in self._writes.items()
        )

    def walk_up(self, directory: str) -> Iterator[str]:
        """Yield a directory and its parents below the workspace's root, by name and where links lead."""
        target = self.filesystem.resolve(directory)
        starts = {
            directory if is_inside(directory) else "",
            target.path if target.location is Location.INSIDE else "",
        }
        for start in starts:
            segments = [segment for segment in start.split("/") if segment]
            for count in range(len(segments), 0, -1):
                yield "/".join(segments[:count])

    def _ask_disk(self, path: CommandPath) -> bool | None:
        return self.filesystem.is_dir(path.key) if self.on_disk and is_inside(path.key) else None

    def build_analysis(self) -> ShellAnalysis:
        """Return everything that was recorded, parts in the order of the text."""
        self._check_links()
        parts = sorted(self._parts, key=lambda part: (part.start, -part.end))
        unknown = (
            PartEffect(part.text, "", Effect.UNKNOWN, part.reason, part.start, part.end)
            for part in self._unknown
        )
        effects = (*self._effects, *unknown)
        # What a person is shown as not known beforehand: also what has a kind, but no list of files.
        acting = [each for each in self._effects if each.effect not in _BY_PATH and not each.is_listed]
        stated = (Unknown(each.part, each.why, each.start, each.end) for each in acting)
        return ShellAnalysis(
            safe=not self._writes and all(each.effect in LOOKING or each.is_listed for each in effects),
            effects=tuple(sorted(effects, key=lambda each: (each.start or 0, -(each.end or 0)))),
            writes=tuple(self._writes),
            reads=tuple(self._reads),
            patterns=(*self._patterns, *(self._listed if self.reads_listed else ())),
            unknown=tuple(dict.fromkeys((*self._unknown, *stated))),
            parts=tuple(parts),
            links=frozenset(link.maker for link in self._links),
        )

    def _check_links(self) -> None:
        """Record as unknown what may be written through a link that the same command makes.

        The gate resolves paths before the command runs, when that link does not exist yet. The order of the
        writes does not count: a loop or a background job may write after the link is made.
        """
        if len(self._links) > MAX_LINKS:
            self.add_unknown("creates too many links to follow", (0, len(self.source.data)))
            return
        for link in self._links:
            for path, key in self._writes.items():
                follows = _may_follow(link, path, key)
                follows |= key == link.key and key in self.written_with_slash
                # A wildcard also matches links that did not exist yet when it was looked up.
                if (follows or path in self._matched) and path != link.maker:
                    text = self.source.text[path.start : path.end]
                    reason = "may be written through a link that the same command creates"
                    self._unknown[Unknown(text, reason, path.start, path.end)] = None

    def _offsets(self, location: Span) -> tuple[int, int]:
        return self.source.offset(location[0]), self.source.offset(location[1])


_BY_PATH = LOOKING | {Effect.WRITES}
_READS = _Claim("", Effect.READS, "only reads")
_WRITES = _Claim("", Effect.WRITES, "changes the files that it names")


def _may_follow(link: _Link, path: ShellPath, key: str) -> bool:
    """Return whether a write may follow a link: below it, at its name, or by copying a tree over it."""
    if key == link.key:
        return path.op in FOLLOWS
    if key.startswith(link.key + "/"):
        return True
    return path.recursive and path.op == "write" and link.key.startswith(key + "/")
