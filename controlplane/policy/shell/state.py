"""The state of a shell between two commands, and how the states of branches are merged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

MAX_DIRECTORIES = 8


class StreamContent(Enum):
    """Taint of a stream: anything, or only names of files in directories that are recorded as read."""

    ANYTHING = ""
    NAMES_BY_LINE = "lines"
    NAMES_BY_NUL = "nuls"


@dataclass(frozen=True, slots=True)
class Constant:
    """The value that a variable holds for certain."""

    text: str
    has_wildcard: bool = False  # one of the files that match `text`
    is_file_name: bool = False  # one of the files that a command has listed; `text` is empty


@dataclass(frozen=True, slots=True)
class State:
    """The state in front of a command.

    `directories`: every working directory that is possible, None when unknown, () when the command is never
    reached. `directory_stack` is that of pushd and popd. `constants`: the variables whose value is certain.
    """

    directories: tuple[str, ...] | None
    directory_stack: tuple[tuple[str, ...], ...] = ()
    constants: Mapping[str, Constant] = field(default_factory=dict)

    def with_constant(self, name: str, value: Constant | None) -> State:
        constants = {key: constant for key, constant in self.constants.items() if key != name}
        if value is not None:
            constants[name] = value
        return replace(self, constants=constants)

    def after_exit(self) -> State:
        """Return the state behind `exit`: what follows is never reached."""
        return replace(self, directories=())


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """The state after success and after failure; `cannot_fail` when failure is ruled out."""

    success: State
    failure: State
    cannot_fail: bool = False

    @classmethod
    def from_state(cls, state: State) -> CommandOutcome:
        """Return the outcome of a command behind which the state is the same, whether it succeeds or not."""
        return cls(state, state)

    @property
    def after(self) -> State:
        """The state in front of a command that runs either way (`;`)."""
        return self.success if self.cannot_fail else merge(self.success, self.failure)


def merge(left: State, other: State) -> State:
    """Return what holds in both states: a constant survives only where both agree."""
    if left == other or other.directories == ():
        return left
    if left.directories == ():
        return other
    constants = {key: value for key, value in left.constants.items() if other.constants.get(key) == value}
    stack = left.directory_stack if left.directory_stack == other.directory_stack else ()
    return State(merge_directories(left.directories, other.directories), stack, constants)


def merge_directories(left: tuple[str, ...] | None, other: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return every directory of both; None where one is unknown, or there are too many."""
    if left is None or other is None:
        return None
    merged = tuple(dict.fromkeys((*left, *other)))
    return merged if len(merged) <= MAX_DIRECTORIES else None
