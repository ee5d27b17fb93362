"""One simple command, decoded, on its way to the table entry that knows its program."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from controlplane.policy.shell.lexical_path import Placed, is_inside, place
from controlplane.policy.shell.options import READ, WRITE, Parsed, Spec, parse_options
from controlplane.policy.shell.recorder import Scene
from controlplane.policy.shell.result import UnclearError
from controlplane.policy.shell.state import Feed, Outcome, State, always
from controlplane.policy.shell.wildcards import fixed_folder, matches, may_step_up
from controlplane.policy.shell.word import PIPE, Word

MAX_WRAPPERS = 8  # `nice timeout 5 env …`

# Files that hold nothing of anybody's.
DEVICES = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", PIPE})
SOURCES = DEVICES | {"/dev/stdin", "/dev/zero", "/dev/urandom", "/dev/random"}


class Runner(Protocol):
    """Runs a command inside a command: `timeout 5 rm x` runs `rm x`."""

    def __call__(self, call: Call) -> Outcome: ...


@dataclass(frozen=True, slots=True)
class Call:
    """A program and its arguments. `feed`: whether its standard input holds names of
    files that were looked through, and nothing else."""

    name: str
    args: tuple[Word, ...]
    span: tuple[int, int]
    state: State
    scene: Scene
    run: Runner
    feed: Feed = Feed.NONE
    depth: int = 0  # how many wrappers stand in front
    has_opened: bool = False  # its redirects write to files

    def inner(self, words: Sequence[Word]) -> Outcome:
        """Judge `words` as a command of their own."""
        if not words:
            return always(self.state)
        first = words[0]
        if first.value is None or first.wild or first.tilde:
            raise UnclearError("the program is not known", (first.start, first.end))
        if self.depth > MAX_WRAPPERS:
            raise UnclearError("too many wrappers", self.span)
        args = tuple(words[1:])
        return self.run(replace(self, name=first.value, args=args, depth=self.depth + 1))

    def parse(self, known: Spec) -> Parsed:
        return parse_options(self.args, known)

    def places(self, word: Word, *, below: str = "") -> list[Placed]:
        """Every path that a word may name: one for each folder the shell may be in."""
        span = (word.start, word.end)
        if word.value is None:
            raise UnclearError("the path is known only when the command runs", span)
        raw = f"{word.value.rstrip('/')}/{below}" if below else word.value
        if raw == "":
            raise UnclearError("an empty path", span)
        if raw.startswith("/") or word.tilde:
            return [place("", raw, self.scene.root)]
        if self.state.folders is None:
            raise UnclearError("the folder is not known here", span)
        return [place(folder, raw, self.scene.root) for folder in self.state.folders]

    def read(self, word: Word, *, recursive: bool = False) -> None:
        """A file or folder that is looked at."""
        if word.wild:
            self._read_wild(word)
        elif word.listed and word.value is None:
            self.read_here()  # counted from where the shell is now
        elif word.value not in SOURCES and word.value != "-":
            for path in self.places(word):
                self.scene.add_read(path, recursive=recursive, span=(word.start, word.end))

    def _read_wild(self, word: Word) -> None:
        """What a wildcard matches on disk; where that is not known, all below its fixed part, and links."""
        self._vet_wild(word)
        span = (word.start, word.end)
        for path in self.places(word):
            found = self._matches(path, span)
            if found is None:
                folder = place(path.cwd, fixed_folder(path.raw), self.scene.root)
                self.scene.add_read(folder, recursive=True, span=span, pattern=path.raw)
                found = self.scene.links_below(folder, span)
            for match in found:
                self.scene.add_read(match, recursive=True, span=span)

    def _vet_wild(self, word: Word) -> None:
        """Raises UnclearError where a wildcard may lead out of its folder."""
        written = self.scene.source.data[word.start : word.end]
        if may_step_up(word.value or "", bare=not re.search(rb"[^\w./*?!^\[\]-]", written)):
            raise UnclearError("a wildcard that may match ..", (word.start, word.end))

    def _matches(self, path: Placed, span: tuple[int, int]) -> list[Placed] | None:
        """What a wildcard matches in a workspace on disk; None outside of it, without one, or of too much."""
        if not self.scene.on_disk or not is_inside(path.key):
            return None
        absolute = path.raw.startswith("/")
        if absolute and ".." in path.raw.split("/"):
            raise UnclearError("a wildcard behind a ..", span)
        pattern = path.key if absolute else f"{path.cwd}/{path.raw}".lstrip("/")
        found = matches(self.scene.world, pattern)
        if found is None:
            return None
        names = (f"./{match}" if match.startswith("~") else match for match in found)
        return [place("", name, self.scene.root) for name in names]

    def read_all(self, words: Iterable[Word], *, recursive: bool = False) -> None:
        for word in words:
            self.read(word, recursive=recursive)

    def read_here(self) -> None:
        """The current folder is looked at, without being named."""
        start, _ = self.span
        self.read(Word(".", ".", start, self.span[1]))

    def write(
        self, word: Word, op: str = "write", *, below: str = "", recursive: bool = False, links: bool = False
    ) -> None:
        """A file that is created, changed, moved or deleted; `below` names a file inside it."""
        if word.wild or word.listed:
            why = "a wildcard" if word.wild else "names that are not followed"
            raise UnclearError(f"{why} among the targets", (word.start, word.end))
        if word.value in DEVICES:
            return
        for path in self.places(word, below=below):
            span = (word.start, word.end)
            self.scene.add_write(path, op, span, recursive=recursive, links=links)
            if (word.value or "").endswith("/"):
                self.scene.entered.add(path.key)

    def change(self, word: Word, op: str, *, recursive: bool = False) -> None:
        """A file that is changed only where it is there already; a wildcard names those that it matches."""
        if not word.wild or word.carried:
            self.write(word, op, recursive=recursive)
            return
        self._vet_wild(word)
        span = (word.start, word.end)
        for path in self.places(word):
            found = self._matches(path, span)
            if not found:
                raise UnclearError("a wildcard among the targets", span)
            for match in found:
                self.scene.add_matched(match, op, span, recursive=recursive)

    def unknown(self, why: str) -> None:
        self.scene.add_unknown(why, self.span)


@dataclass(frozen=True, slots=True)
class Program:
    """A table entry: the options that are vetted, and who judges them. `verdict` is what the part is
    called on the reviewer's page when all is clear."""

    spec: Spec
    handler: Callable[[Call, Parsed], None] | None = None
    verdict: str = "reads"

    @property
    def is_open(self) -> bool:
        return self.spec.open

    def judge(self, call: Call) -> None:
        parsed = call.parse(self.spec)
        option_files(call, parsed, self.spec)
        (self.handler or self._by_role)(call, parsed)

    def _by_role(self, call: Call, parsed: Parsed) -> None:
        by_role(call, parsed.operands, self.spec.operands)
        if self.spec.here and not parsed.operands:
            call.read_here()


@dataclass(frozen=True, slots=True)
class Custom:
    """A table entry for a program whose arguments follow rules of their own."""

    judge: Callable[[Call], None]
    verdict: str = "reads"
    is_open: bool = False


Entry = Program | Custom


def option_files(call: Call, parsed: Parsed, known: Spec) -> None:
    """Files that stand as values of options."""
    for name, value in parsed.options:
        if value is not None:
            _touch(call, value, known.options[name])


def by_role(call: Call, operands: Sequence[Word], roles: str) -> None:
    """Files among the operands, by the roles of `Spec.operands`."""
    fixed, star = roles.rstrip("*"), roles.endswith("*")
    for at, word in enumerate(operands):
        if at >= len(fixed) and not star:
            raise UnclearError("more arguments than are understood", (word.start, word.end))
        if word.many and len(set(fixed[at:])) > 1:
            raise UnclearError("may become several arguments", (word.start, word.end))
        _touch(call, word, fixed[min(at, len(fixed) - 1)])


def _touch(call: Call, word: Word, role: str) -> None:
    if role == READ:
        call.read(word)
    elif role == WRITE:
        call.write(word)
