"""What a shell carries from one command to the next, and how branches come together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

MAX_FOLDERS = 8


class Feed(Enum):
    """What comes in on standard input: names of files that were looked through, one a line or with a NUL
    behind each, or anything."""

    NONE = ""
    LINES = "lines"
    NULS = "nuls"


@dataclass(frozen=True, slots=True)
class Constant:
    """What a variable is known to hold."""

    text: str
    wild: bool = False  # one of the files that match `text`
    listed: bool = False  # one of the files that a command has listed; `text` is empty


@dataclass(frozen=True, slots=True)
class State:
    """`folders`: all folders the shell may be in, None when unknown, () when it never gets here.
    `stack` is for pushd and popd. `constants` are variables whose value is certain."""

    folders: tuple[str, ...] | None
    stack: tuple[tuple[str, ...], ...] = ()
    constants: Mapping[str, Constant] = field(default_factory=dict)

    def with_constant(self, name: str, value: Constant | None) -> State:
        rest = {key: kept for key, kept in self.constants.items() if key != name}
        if value is not None:
            rest[name] = value
        return replace(self, constants=rest)

    def gone(self) -> State:
        """After `exit`: whatever follows does not run."""
        return replace(self, folders=())


@dataclass(frozen=True, slots=True)
class Outcome:
    """The state after success and after failure; `sure` when failure is ruled out."""

    success: State
    failure: State
    sure: bool = False

    @property
    def after(self) -> State:
        """The state for a command that runs either way."""
        return self.success if self.sure else merge(self.success, self.failure)


def always(state: State) -> Outcome:
    """A command that leaves the shell as it is, whether it succeeds or not."""
    return Outcome(state, state)


def merge(one: State, other: State) -> State:
    """Either of two states."""
    if one == other or other.folders == ():
        return one
    if one.folders == ():
        return other
    constants = {key: value for key, value in one.constants.items() if other.constants.get(key) == value}
    stack = one.stack if one.stack == other.stack else ()
    return State(_merge_folders(one.folders, other.folders), stack, constants)


def _merge_folders(one: tuple[str, ...] | None, other: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if one is None or other is None:
        return None
    both = tuple(dict.fromkeys((*one, *other)))
    return both if len(both) <= MAX_FOLDERS else None
