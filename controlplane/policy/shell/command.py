"""One simple command, decoded, on its way to the table entry that knows its program."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from controlplane.policy.shell.lexical_path import CommandPath, is_inside, resolve_lexically
from controlplane.policy.shell.options import READ, WRITE, OptionSpec, ParsedOptions, parse_options
from controlplane.policy.shell.recorder import Recorder
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.state import CommandOutcome, State, StreamContent, always
from controlplane.policy.shell.wildcards import find_matches, fixed_directory, may_match_parent
from controlplane.policy.shell.word import PIPE_PATH, Word

MAX_WRAPPERS = 8  # `nice timeout 5 env …`

# Files that hold nothing of anybody's.
DEVICES = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", PIPE_PATH})
SOURCES = DEVICES | {"/dev/stdin", "/dev/zero", "/dev/urandom", "/dev/random"}


class Runner(Protocol):
    """Runs a command inside a command: `timeout 5 rm x` runs `rm x`."""

    def __call__(self, call: ProgramCall) -> CommandOutcome: ...


@dataclass(frozen=True, slots=True)
class ProgramCall:
    """A program and its arguments. `feed`: whether its standard input holds names of
    files that were looked through, and nothing else."""

    name: str
    args: tuple[Word, ...]
    span: tuple[int, int]
    state: State
    recorder: Recorder
    run: Runner
    stdin: StreamContent = StreamContent.ANYTHING
    depth: int = 0  # how many wrappers stand in front
    redirects_to_file: bool = False  # its redirects write to files

    def run_nested(self, words: Sequence[Word]) -> CommandOutcome:
        """Judge `words` as a command of their own."""
        if not words:
            return always(self.state)
        first = words[0]
        if first.value is None or first.has_wildcard or first.has_tilde:
            raise UnclearCommandError("the program is not known", first.span)
        if self.depth > MAX_WRAPPERS:
            raise UnclearCommandError("too many wrappers", self.span)
        args = tuple(words[1:])
        return self.run(replace(self, name=first.value, args=args, depth=self.depth + 1))

    def parse_options(self, spec: OptionSpec) -> ParsedOptions:
        return parse_options(self.args, spec)

    def resolve(self, word: Word, *, below: str = "") -> list[CommandPath]:
        """Every path that a word may name: one for each folder the shell may be in."""
        span = word.span
        if word.value is None:
            raise UnclearCommandError("the path is known only when the command runs", span)
        raw = f"{word.value.rstrip('/')}/{below}" if below else word.value
        if raw == "":
            raise UnclearCommandError("an empty path", span)
        if raw.startswith("/") or word.has_tilde:
            return [resolve_lexically("", raw, self.recorder.root)]
        if self.state.directories is None:
            raise UnclearCommandError("the folder is not known here", span)
        return [resolve_lexically(folder, raw, self.recorder.root) for folder in self.state.directories]

    def read(self, word: Word, *, recursive: bool = False) -> None:
        """A file or folder that is looked at."""
        if word.has_wildcard:
            self._read_wildcard(word)
        elif word.is_file_name and word.value is None:
            self.read_cwd()  # counted from where the shell is now
        elif word.value not in SOURCES and word.value != "-":
            for path in self.resolve(word):
                self.recorder.add_read(path, recursive=recursive, span=word.span)

    def _read_wildcard(self, word: Word) -> None:
        """What a wildcard matches on disk; where that is not known, all below its fixed part, and links."""
        self._check_wildcard(word)
        span = word.span
        for path in self.resolve(word):
            found = self._find_matches(path, span)
            if found is None:
                folder = resolve_lexically(path.cwd, fixed_directory(path.raw), self.recorder.root)
                self.recorder.add_read(folder, recursive=True, span=span, pattern=path.raw)
                found = self.recorder.find_links(folder, span)
            for match in found:
                self.recorder.add_read(match, recursive=True, span=span)

    def _check_wildcard(self, word: Word) -> None:
        """Raises UnclearError where a wildcard may lead out of its folder."""
        written = self.recorder.source.data[word.start : word.end]
        if may_match_parent(word.value or "", bare=not re.search(rb"[^\w./*?!^\[\]-]", written)):
            raise UnclearCommandError("a wildcard that may match ..", word.span)

    def _find_matches(self, path: CommandPath, span: tuple[int, int]) -> list[CommandPath] | None:
        """What a wildcard matches in a workspace on disk; None outside of it, without one, or of too much."""
        if not self.recorder.on_disk or not is_inside(path.key):
            return None
        absolute = path.raw.startswith("/")
        if absolute and ".." in path.raw.split("/"):
            raise UnclearCommandError("a wildcard behind a ..", span)
        pattern = path.key if absolute else f"{path.cwd}/{path.raw}".lstrip("/")
        found = find_matches(self.recorder.filesystem, pattern)
        if found is None:
            return None
        names = (f"./{match}" if match.startswith("~") else match for match in found)
        return [resolve_lexically("", name, self.recorder.root) for name in names]

    def read_all(self, words: Iterable[Word], *, recursive: bool = False) -> None:
        for word in words:
            self.read(word, recursive=recursive)

    def read_cwd(self) -> None:
        """The current folder is looked at, without being named."""
        start, _ = self.span
        self.read(Word(".", ".", start, self.span[1]))

    def write(
        self, word: Word, op: str = "write", *, below: str = "", recursive: bool = False, links: bool = False
    ) -> None:
        """A file that is created, changed, moved or deleted; `below` names a file inside it."""
        if word.has_wildcard or word.is_file_name:
            why = "a wildcard" if word.has_wildcard else "names that are not followed"
            raise UnclearCommandError(f"{why} among the targets", word.span)
        if word.value in DEVICES:
            return
        for path in self.resolve(word, below=below):
            span = word.span
            self.recorder.add_write(path, op, span, recursive=recursive, links=links)
            if (word.value or "").endswith("/"):
                self.recorder.written_with_slash.add(path.key)

    def write_existing(self, word: Word, op: str, *, recursive: bool = False) -> None:
        """A file that is changed only where it is there already; a wildcard names those that it matches."""
        if not word.has_wildcard or word.from_variable:
            self.write(word, op, recursive=recursive)
            return
        self._check_wildcard(word)
        span = word.span
        for path in self.resolve(word):
            found = self._find_matches(path, span)
            if not found:
                raise UnclearCommandError("a wildcard among the targets", span)
            for match in found:
                self.recorder.add_matched_write(match, op, span, recursive=recursive)

    def add_unknown(self, reason: str) -> None:
        self.recorder.add_unknown(reason, self.span)


@dataclass(frozen=True, slots=True)
class Program:
    """A table entry: the options that are vetted, and who judges them. `verdict` is what the part is
    called on the reviewer's page when all is clear."""

    spec: OptionSpec
    handler: Callable[[ProgramCall, ParsedOptions], None] | None = None
    verdict: str = "reads"

    @property
    def is_option_safe(self) -> bool:
        return self.spec.option_safe

    def record_effects(self, call: ProgramCall) -> None:
        parsed = call.parse_options(self.spec)
        record_option_files(call, parsed, self.spec)
        (self.handler or self._record_by_role)(call, parsed)

    def _record_by_role(self, call: ProgramCall, parsed: ParsedOptions) -> None:
        record_operands(call, parsed.operands, self.spec.operands)
        if self.spec.reads_cwd and not parsed.operands:
            call.read_cwd()


@dataclass(frozen=True, slots=True)
class CustomProgram:
    """A table entry for a program whose arguments follow rules of their own."""

    record_effects: Callable[[ProgramCall], None]
    verdict: str = "reads"
    is_option_safe: bool = False


KnownProgram = Program | CustomProgram


def record_option_files(call: ProgramCall, parsed: ParsedOptions, known: OptionSpec) -> None:
    """Files that stand as values of options."""
    for name, value in parsed.options:
        if value is not None:
            _record_file(call, value, known.options[name])


def record_operands(call: ProgramCall, operands: Sequence[Word], roles: str) -> None:
    """Files among the operands, by the roles of `Spec.operands`."""
    fixed, star = roles.rstrip("*"), roles.endswith("*")
    for at, word in enumerate(operands):
        if at >= len(fixed) and not star:
            raise UnclearCommandError("more arguments than are understood", word.span)
        if word.may_split and len(set(fixed[at:])) > 1:
            raise UnclearCommandError("may become several arguments", word.span)
        _record_file(call, word, fixed[min(at, len(fixed) - 1)])


def _record_file(call: ProgramCall, word: Word, role: str) -> None:
    if role == READ:
        call.read(word)
    elif role == WRITE:
        call.write(word)
