"""One analysis: what it knows about the workspace and what it has found so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from controlplane.policy.model import Unknown
from controlplane.policy.paths.filesystem import Filesystem, Location
from controlplane.policy.shell.lexical_path import CommandPath, is_inside, resolve_lexically
from controlplane.policy.shell.result import CommandPart, ShellAnalysis, ShellPath, UnclearCommandError
from controlplane.policy.shell.source import CommandText

MAX_COMMANDS = 300  # simple commands judged, loops unrolled
MAX_PATHS = 1_000
MAX_LINKS = 40
# What a part is called, the strongest first.
VERDICTS = (
    ("delete", "deletes"),
    ("move", "moves"),
    ("write", "writes"),
    ("mode", "writes"),
    ("link", "writes"),
    ("folder", "writes"),
)

# What goes through a link of that very name; other changes take the link itself.
FOLLOWS = frozenset({"write", "mode", "folder"})


@dataclass(frozen=True, slots=True)
class AnalysisContext:
    """What an analysis may know about the workspace."""

    root: str | None
    filesystem: Filesystem
    safe_commands: tuple[str, ...]


AnalyseNested = Callable[[str, str], ShellAnalysis]  # command, folder -> what it does


@dataclass(frozen=True, slots=True)
class _Link:
    """A name that may lead elsewhere once the command has run, and the write that makes it."""

    key: str
    maker: ShellPath


@dataclass(frozen=True, slots=True)
class Mark:
    """How much was found before a part began."""

    ops: int
    unknown: int


class Recorder:
    """Collects effects. Spans come in as byte offsets and go out as code points."""

    def __init__(self, text: CommandText, surroundings: AnalysisContext, nested: AnalyseNested) -> None:
        self.source = text
        self._nested = nested
        self.root = surroundings.root
        self.filesystem = surroundings.filesystem
        self.safe_commands = surroundings.safe_commands
        self.on_disk = self.filesystem.is_dir("") is True
        self.has_removed = False  # something may be gone: what the disk says need not hold any more
        self.jump_count = 0  # how often `break` or `continue` stood in the command
        self.exports_variables = False  # programs get more of them than those that choose a language
        self.exec_redirects = (
            0  # how often `exec` stood without a program: it may change where input comes from
        )
        self.has_run_program = False  # the simple command at hand runs a program of its own
        self.filled_variables: set[str] = set()  # `read` has put text from outside into them
        self.created_directories: set[str] = set()
        self.written_with_slash: set[str] = set()  # written with a slash behind: through a link of that name
        self._ops: list[str] = []
        self._links: list[_Link] = []
        self._matched: set[ShellPath] = set()
        self._writes: dict[ShellPath, str] = {}
        self._reads: dict[ShellPath, None] = {}
        self._unknown: dict[Unknown, None] = {}
        self._parts: list[CommandPart] = []
        self._commands = 0

    def count_command(self) -> None:
        """Count one simple command; raises UnclearError when there are too many."""
        self._commands += 1
        if self._commands > MAX_COMMANDS or len(self._writes) + len(self._reads) > MAX_PATHS:
            raise UnclearCommandError("the command is too long to judge as a whole")

    @property
    def is_exhausted(self) -> bool:
        return self._commands > MAX_COMMANDS

    def add_write(
        self,
        path: CommandPath,
        op: str,
        span: tuple[int, int],
        *,
        recursive: bool = False,
        links: bool = False,
    ) -> ShellPath:
        """`links`: the write may put a link at `path`, or links below it."""
        start, end = self._offsets(span)
        found = ShellPath(path.raw, path.cwd, op, recursive, start, end)
        self._writes[found] = path.key
        self._ops.append(op)
        self.has_removed |= op in ("delete", "move")
        if links:
            self._links.append(_Link(path.key, found))
        return found

    def add_matched_write(
        self, path: CommandPath, op: str, span: tuple[int, int], *, recursive: bool
    ) -> None:
        """A change of what a wildcard has found."""
        self._matched.add(self.add_write(path, op, span, recursive=recursive))

    def add_read(
        self, path: CommandPath, *, recursive: bool, span: tuple[int, int], pattern: str = ""
    ) -> None:
        start, end = self._offsets(span)
        self._reads[ShellPath(path.raw, path.cwd, "read", recursive, start, end, pattern)] = None

    def add_unknown(self, reason: str, span: tuple[int, int]) -> None:
        start, end = self._offsets(span)
        self._unknown[Unknown(self.source.text[start:end], reason, start, end)] = None

    def mark(self) -> Mark:
        self.has_run_program = False
        return Mark(len(self._ops), len(self._unknown))

    def has_written(self, mark: Mark) -> bool:
        return len(self._ops) > mark.ops

    def drop_unknown(self, mark: Mark) -> None:
        """Drop what was unknown since: the workspace vouches for it."""
        for unknown in list(self._unknown)[mark.unknown :]:
            del self._unknown[unknown]

    def add_part(self, span: tuple[int, int], mark: Mark) -> None:
        """A simple command that has been judged since `mark`."""
        start, end = self._offsets(span)
        part = CommandPart(self.source.text[start:end], start, end, self._verdict(mark))
        if part not in self._parts[-8:]:  # a loop that is walked again repeats its commands
            self._parts.append(part)

    def _verdict(self, mark: Mark) -> str:
        if self.has_run_program:
            return "runs"
        if len(self._unknown) > mark.unknown:
            return "unknown"
        ops = self._ops[mark.ops :]
        return next((verdict for op, verdict in VERDICTS if op in ops), "reads")

    def add_nested(self, text: str, folders: tuple[str, ...], span: tuple[int, int]) -> None:
        """What a string that is run as a command would write. Its offsets mean nothing here."""
        for folder in folders:
            for path in self._nested(text, folder).writes:
                placed = resolve_lexically(path.cwd, path.raw, self.root)
                self.add_write(placed, path.op, span, recursive=path.recursive)

    @property
    def has_unknown(self) -> bool:
        return bool(self._unknown)

    def is_directory(self, path: CommandPath) -> bool:
        """Whether the disk says that a path is a folder.

        It may have been removed by this very command, but then the path is among the writes already.
        """
        return path.key not in self.created_directories and self._ask_disk(path) is True

    def may_be_directory(self, path: CommandPath) -> bool:
        """Whether a path may be a folder when the command gets there.

        Where no disk can be asked, a name with an extension is taken for a file: otherwise every copy
        into a scope of `*.ts` would be refused.
        """
        if path.key in self.created_directories:
            return True
        known = self._ask_disk(path)
        return "." not in path.key.rpartition("/")[2].lstrip(".") if known is None else known

    def may_be_missing(self, path: CommandPath) -> bool:
        """Whether the disk knows no such folder; outside of the workspace, where nobody is asked, all but
        a home (`~`) may be missing."""
        outside = not is_inside(path.key) and "/" in path.key
        return outside or self._ask_disk(path) is False

    def find_links(self, path: CommandPath, span: tuple[int, int]) -> list[CommandPath]:
        """The links in a folder on disk; raises UnclearError when there are too many names to look at."""
        if self._ask_disk(path) is not True:
            return []
        found = self.filesystem.list_links(path.key)
        if found is None:
            raise UnclearCommandError("too many files to look for links among them", span)
        return [CommandPath(name, "", name) for name in found]

    def may_exist(self, file: str) -> bool:
        """Whether a file of the workspace is on disk, or comes by this very command."""
        if self.on_disk and self.filesystem.exists(file) is True:
            return True
        return any(
            key == file or (path.recursive and path.op != "delete" and file.startswith(key + "/"))
            for path, key in self._writes.items()
        )

    def walk_up(self, folder: str) -> Iterator[str]:
        """Yield a folder and those above it, by name and where links lead, but for the workspace's root."""
        led = self.filesystem.resolve(folder)
        starts = {folder if is_inside(folder) else "", led.path if led.location is Location.INSIDE else ""}
        for start in starts:
            segments = [segment for segment in start.split("/") if segment]
            for count in range(len(segments), 0, -1):
                yield "/".join(segments[:count])

    def _ask_disk(self, path: CommandPath) -> bool | None:
        return self.filesystem.is_dir(path.key) if self.on_disk and is_inside(path.key) else None

    def build_analysis(self) -> ShellAnalysis:
        self._check_links()
        parts = sorted(self._parts, key=lambda part: (part.start, -part.end))
        return ShellAnalysis(
            safe=not self._writes and not self._unknown,
            writes=tuple(self._writes),
            reads=tuple(self._reads),
            unknown=tuple(self._unknown),
            parts=tuple(parts),
        )

    def _check_links(self) -> None:
        """Nothing else may be written through a name that the same command turns into a link.

        The order does not matter: loops and background jobs may run a write after the link is made.
        """
        if len(self._links) > MAX_LINKS:
            self.add_unknown("makes too many links to follow", (0, len(self.source.data)))
            return
        for link in self._links:
            for path, key in self._writes.items():
                through = _goes_through(link, path, key) or (
                    key == link.key and key in self.written_with_slash
                )
                # A wildcard finds links as well that were not there when it was looked up.
                if (through or path in self._matched) and path != link.maker:
                    text = self.source.text[path.start : path.end]
                    why = "may be written through a link that the same command makes"
                    self._unknown[Unknown(text, why, path.start, path.end)] = None

    def _offsets(self, span: tuple[int, int]) -> tuple[int, int]:
        return self.source.offset(span[0]), self.source.offset(span[1])


def _goes_through(link: _Link, path: ShellPath, key: str) -> bool:
    """Whether a write may end where a link leads: below it, at its very name, or, of a tree that is
    copied, over it."""
    if key == link.key:
        return path.op in FOLLOWS
    if key.startswith(link.key + "/"):
        return True
    return path.recursive and path.op == "write" and link.key.startswith(key + "/")
