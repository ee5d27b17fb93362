"""A call of a program: its expanded arguments, and the paths that they name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from controlplane.policy.paths.raw_path import PatternUse
from controlplane.policy.shell.lexical_path import CommandPath, is_inside, resolve_lexically
from controlplane.policy.shell.options import ParsedOptions, parse_options
from controlplane.policy.shell.recorder import Recorder
from controlplane.policy.shell.result import Span, UnclearCommandError
from controlplane.policy.shell.shells import ZSH
from controlplane.policy.shell.state import CommandOutcome, State, StreamContent
from controlplane.policy.shell.table.row import TableRow
from controlplane.policy.shell.wildcards import find_matches, fixed_directory, may_match_parent
from controlplane.policy.shell.word import PIPE_PATH, Word

MAX_WRAPPERS = 8  # `nice timeout 5 env …`

# Files without content of their own.
DEVICES = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", PIPE_PATH})
ANY_DEPTH = frozenset({"**", "***"})  # segments
SOURCES = DEVICES | {"/dev/stdin", "/dev/zero", "/dev/urandom", "/dev/random"}


class Runner(Protocol):
    """Run a command inside a command: `timeout 5 rm x` runs `rm x`."""

    def __call__(self, call: ProgramCall) -> CommandOutcome: ...


@dataclass(frozen=True, slots=True)
class ProgramCall:
    """A program and its arguments, and the state of the shell that it is called in."""

    name: str
    args: tuple[Word, ...]
    span: Span
    state: State
    recorder: Recorder
    run: Runner
    stdin: StreamContent = StreamContent.ANYTHING
    depth: int = 0  # wrappers in front of it
    redirects_to_file: bool = False
    stdin_text: str | None = None  # all of standard input, where a here-document holds it

    def run_nested(self, words: Sequence[Word]) -> CommandOutcome:
        """Run `words` as a command of their own."""
        if not words:
            return CommandOutcome.from_state(self.state)
        first = words[0]
        if first.value is None or first.has_wildcard or first.has_tilde:
            raise UnclearCommandError(
                "the name of the program is known only when the command runs", first.span
            )
        if self.depth > MAX_WRAPPERS:
            raise UnclearCommandError("too many programs that run one another", self.span)
        args = tuple(words[1:])
        return self.run(replace(self, name=first.value, args=args, depth=self.depth + 1))

    def parse_options(self, row: TableRow) -> ParsedOptions:
        return parse_options(self.args, row)

    def resolve(self, word: Word, *, below: str = "") -> list[CommandPath]:
        """Return every path that a word may name: one for each directory that the shell may be in."""
        location = word.span
        if word.value is None:
            raise UnclearCommandError("the path is known only when the command runs", location)
        raw = f"{word.value.rstrip('/')}/{below}" if below else word.value
        if raw == "":
            raise UnclearCommandError("an empty path", location)
        if raw.startswith("/") or word.has_tilde:
            return [resolve_lexically("", raw, self.recorder.root)]
        if self.state.directories is None:
            raise UnclearCommandError("the current directory is not known here", location)
        return [resolve_lexically(directory, raw, self.recorder.root) for directory in self.state.directories]

    def read(self, word: Word, *, recursive: bool = False) -> None:
        """Record a file or directory that is read."""
        if word.has_wildcard:
            self._read_wildcard(word)
        elif word.is_file_name and word.value is None:
            self.recorder.reads_listed = True
            self.read_cwd()  # names on a list are relative to where the shell is now
        elif word.value not in SOURCES and word.value != "-":
            for path in self.resolve(word):
                self.recorder.add_read(path, recursive=recursive, location=word.span)

    def _read_wildcard(self, word: Word) -> None:
        """Record the matches of a wildcard; where they are not known, all below its fixed part."""
        self._check_wildcard(word)
        location = word.span
        for path in self.resolve(word):
            matches = self._find_matches(path, location)
            if matches is None or self._matches_any_depth(word):
                directory = resolve_lexically(path.cwd, fixed_directory(path.raw), self.recorder.root)
                self.recorder.add_read(directory, recursive=True, location=location)
                self.recorder.add_pattern(path, PatternUse.WILDCARD if matches is None else PatternUse.FILTER)
                matches = [*(matches or ()), *self.recorder.find_links(directory, location)]
            for match in matches:
                self.recorder.add_read(match, recursive=True, location=location)

    def _matches_any_depth(self, word: Word) -> bool:
        """Return whether the word holds `**`, which zsh matches at any depth and bash as `*`."""
        return ZSH in self.recorder.shells and not ANY_DEPTH.isdisjoint((word.value or "").split("/"))

    def _check_wildcard(self, word: Word) -> None:
        """Raise UnclearCommandError where a wildcard may lead out of its directory."""
        source_text = self.recorder.source.data[word.start : word.end]
        if may_match_parent(word.value or "", bare=not re.search(rb"[^\w./*?!^\[\]-]", source_text)):
            raise UnclearCommandError("a wildcard that may match ..", word.span)

    def _find_matches(self, path: CommandPath, location: Span) -> list[CommandPath] | None:
        """Return the matches of a wildcard; None outside of the workspace, without a disk, or if too many."""
        if not self.recorder.on_disk or not is_inside(path.key):
            return None
        absolute = path.raw.startswith("/")
        # `key` has its `..` resolved by text, but links may turn them elsewhere.
        if absolute and ".." in path.raw.split("/"):
            raise UnclearCommandError("a wildcard behind a ..", location)
        pattern = path.key if absolute else f"{path.cwd}/{path.raw}".lstrip("/")
        matches = find_matches(self.recorder.filesystem, pattern)
        if matches is None:
            return None
        # A file named `~x` must not be taken for a home.
        names = (f"./{match}" if match.startswith("~") else match for match in matches)
        return [resolve_lexically("", name, self.recorder.root) for name in names]

    def list_filtered(self, roots: Sequence[Word], pattern: str) -> Iterator[CommandPath]:
        """Yield what a filter of names stands for below each of these folders, by default the current one."""
        for root in roots or [Word(".", ".", *self.span)]:
            if root.value and not root.has_wildcard and (root.value[0] in "/~" or self.state.directories):
                below = f"**/{pattern.lstrip('/')}" if pattern else ""
                yield from self.resolve(root, below=below)

    def read_all(self, words: Iterable[Word], *, recursive: bool = False) -> None:
        for word in words:
            self.read(word, recursive=recursive)

    def read_cwd(self) -> None:
        """Record the current directory, which is read without being named."""
        start, _ = self.span
        self.read(Word(".", ".", start, self.span[1]))

    def write(
        self,
        word: Word,
        op: str = "write",
        *,
        below: str = "",
        recursive: bool = False,
        may_link: bool = False,
    ) -> None:
        """Record a file that is created, changed, moved or deleted; `below` names a file inside of it."""
        if word.has_wildcard or word.is_file_name:
            subject = "a wildcard" if word.has_wildcard else "names from another command"
            raise UnclearCommandError(f"{subject} among the targets", word.span)
        if word.value in DEVICES:
            return
        for path in self.resolve(word, below=below):
            location = word.span
            self.recorder.add_write(path, op, location, recursive=recursive, may_link=may_link)
            if (word.value or "").endswith("/"):
                self.recorder.written_with_slash.add(path.key)

    def write_existing(self, word: Word, op: str, *, recursive: bool = False) -> None:
        """Record a change of files that must exist: a wildcard names each one that it matches."""
        # A wildcard out of a variable was matched when the variable was set, before files came and went.
        is_old = op == "delete" or self.recorder.has_removed or self.recorder.has_unknown
        if not word.has_wildcard or (word.from_variable and is_old):
            self.write(word, op, recursive=recursive)
            return
        self._check_wildcard(word)
        location = word.span
        for path in self.resolve(word):
            matches = None if self._matches_any_depth(word) else self._find_matches(path, location)
            if not matches:
                raise UnclearCommandError("a wildcard among the targets", location)
            for match in matches:
                self.recorder.add_matched_write(match, op, location, recursive=recursive)

    def add_unknown(self, reason: str) -> None:
        self.recorder.add_unknown(reason, self.span)
