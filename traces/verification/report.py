"""What a verification found."""

from __future__ import annotations

from dataclasses import dataclass, field

from traces.models import LedgerEntry

MAX_PROBLEMS = 100


@dataclass(frozen=True, slots=True)
class IntegrityProblem:
    """`kind` is stable, for programs. `entry_id` and `seq` are set where the problem is one entry."""

    kind: str
    text: str
    entry_id: str | None = None
    seq: int | None = None


@dataclass(slots=True)
class SigningKey:
    """A key and how many heads it signed. `is_told` unless no signed change of keys introduces it."""

    key_id: str
    is_told: bool
    heads: int = 0


@dataclass(slots=True)
class VerificationReport:
    """`checked` counts sealed entries, `unsealed` the others; `root` is of the tree as recomputed.

    `redacted` and `archived` count entries whose bodies are missing for a recorded reason. `outside` counts
    the heads from outside the database that were compared.
    """

    workspace_id: int
    size: int = 0
    root: str = ""
    checked: int = 0
    unsealed: int = 0
    redacted: int = 0
    archived: int = 0
    checkpoints: int = 0
    outside: int = 0
    keys: list[SigningKey] = field(default_factory=list)
    problems: list[IntegrityProblem] = field(default_factory=list)
    problem_count: int = 0

    @property
    def ok(self) -> bool:
        return self.problem_count == 0

    def add(self, kind: str, text: str, entry: LedgerEntry | None = None, seq: int | None = None) -> None:
        self.problem_count += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(IntegrityProblem(kind, text, entry.entry_id if entry else None, seq))
