"""What a shell carries from one command to the next, and how branches come together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

MAX_DIRECTORIES = 8


class StreamContent(Enum):
    """What comes in on standard input: names of files that were looked through, one a line or with a NUL
    behind each, or anything."""

    ANYTHING = ""
    NAMES_BY_LINE = "lines"
    NAMES_BY_NUL = "nuls"


@dataclass(frozen=True, slots=True)
class Constant:
    """What a variable is known to hold."""

    text: str
    has_wildcard: bool = False  # one of the files that match `text`
    is_file_name: bool = False  # one of the files that a command has listed; `text` is empty


@dataclass(frozen=True, slots=True)
class State:
    """`folders`: all folders the shell may be in, None when unknown, () when it never gets here.
    `stack` is for pushd and popd. `constants` are variables whose value is certain."""

    directories: tuple[str, ...] | None
    directory_stack: tuple[tuple[str, ...], ...] = ()
    constants: Mapping[str, Constant] = field(default_factory=dict)

    def with_constant(self, name: str, value: Constant | None) -> State:
        rest = {key: kept for key, kept in self.constants.items() if key != name}
        if value is not None:
            rest[name] = value
        return replace(self, constants=rest)

    def after_exit(self) -> State:
        """After `exit`: whatever follows does not run."""
        return replace(self, directories=())


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """The state after success and after failure; `sure` when failure is ruled out."""

    success: State
    failure: State
    cannot_fail: bool = False

    @property
    def after(self) -> State:
        """The state for a command that runs either way."""
        return self.success if self.cannot_fail else merge(self.success, self.failure)


def always(state: State) -> CommandOutcome:
    """A command that leaves the shell as it is, whether it succeeds or not."""
    return CommandOutcome(state, state)


def merge(one: State, other: State) -> State:
    """Either of two states."""
    if one == other or other.directories == ():
        return one
    if one.directories == ():
        return other
    constants = {key: value for key, value in one.constants.items() if other.constants.get(key) == value}
    stack = one.directory_stack if one.directory_stack == other.directory_stack else ()
    return State(_merge_directories(one.directories, other.directories), stack, constants)


def _merge_directories(one: tuple[str, ...] | None, other: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if one is None or other is None:
        return None
    both = tuple(dict.fromkeys((*one, *other)))
    return both if len(both) <= MAX_DIRECTORIES else None
