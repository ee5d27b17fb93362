"""What the parts of a call do to the world: kinds, effects, and who permits them (contract 7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

MAX_KIND_LENGTH = 200
MAX_KINDS = 500  # of an intent, and rules of a workspace


class Effect(StrEnum):
    """What a part of a call does to the world."""

    READS = "reads"
    WRITES = "writes"
    RUNS_PROJECT = "runs_project"
    RUNS_CODE = "runs_code"
    RECORDS = "records"
    DISCARDS = "discards"
    FETCHES = "fetches"
    BROWSES = "browses"
    INSTALLS = "installs"
    SENDS = "sends"
    MACHINE = "machine"
    UNKNOWN = "unknown"


class Permission(StrEnum):
    """What a workspace says to an effect or a kind. `contain`: allowed in a contained run, else it asks."""

    ALLOW = "allow"
    CONTAIN = "contain"
    ASK = "ask"
    DENY = "deny"


RISKS: Mapping[Effect, str] = {
    Effect.READS: "none",
    Effect.WRITES: "low",  # known files, which the scope decides about
    Effect.RUNS_PROJECT: "low",
    Effect.RUNS_CODE: "medium",
    Effect.RECORDS: "low",
    Effect.DISCARDS: "high",
    Effect.FETCHES: "low",
    Effect.BROWSES: "medium",
    Effect.INSTALLS: "medium",
    Effect.SENDS: "high",
    Effect.MACHINE: "high",
    Effect.UNKNOWN: "high",
}

# What a workspace decides about: reads and writes go by path.
DEFAULT_PERMISSIONS: Mapping[Effect, Permission] = {
    Effect.RUNS_PROJECT: Permission.CONTAIN,
    Effect.RUNS_CODE: Permission.CONTAIN,
    Effect.RECORDS: Permission.CONTAIN,
    Effect.DISCARDS: Permission.ASK,
    Effect.FETCHES: Permission.ALLOW,
    Effect.BROWSES: Permission.ASK,
    Effect.INSTALLS: Permission.ASK,
    Effect.SENDS: Permission.ASK,
    Effect.MACHINE: Permission.ASK,
    Effect.UNKNOWN: Permission.ASK,
}
# Effects that change nothing here or elsewhere.
LOOKING = frozenset({Effect.READS, Effect.FETCHES})


@dataclass(frozen=True, slots=True)
class CommandRule:
    """What a workspace says to a kind of command: allow, ask or deny."""

    kind: str
    permission: Permission


@dataclass(frozen=True, slots=True)
class PartEffect:
    """One effect of one part of a call.

    `kind` is "" where nobody can tell what the part is, or where it is a dangerous form of a kind: then
    only this very call can be approved. `start` and `end` are offsets into the command, in code points.
    `is_listed`: the workspace's `safe_commands` name the part.
    """

    part: str
    kind: str
    effect: Effect
    why: str
    start: int | None = None
    end: int | None = None
    is_listed: bool = False

    @property
    def risk(self) -> str:
        return RISKS[self.effect]


def suggest_kinds(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return the kinds that a grant for the session should cover by default: those of the refused parts.

    Empty where one of them has no kind, or is a dangerous form: then only the very call is offered.
    """
    distinct = tuple(dict.fromkeys(kinds))
    return () if any(not kind or is_dangerous_form(kind) for kind in distinct) else distinct


def is_dangerous_form(kind: str) -> bool:
    """Return whether a kind names a dangerous form of a command by its option: `git push --force`.

    A person may grant it by name; no card and no rule offers it.
    """
    return any(word.startswith("-") for word in kind.split()[1:])


def find_kind_problem(kind: object) -> str | None:
    """Return what is wrong with a kind that a person or a document gives; None when nothing is."""
    if not isinstance(kind, str) or not kind.strip():
        return "A kind must be a non-empty string, such as `go test`."
    if len(kind) > MAX_KIND_LENGTH or not kind.isprintable() or kind != " ".join(kind.split()):
        return f"{kind[:MAX_KIND_LENGTH]!r} is not a kind: use printable words, each one space apart."
    if "*" in kind:
        return f"{kind!r} is not a kind: a kind is a program and its subcommand, without wildcards."
    return None
