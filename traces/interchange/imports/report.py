"""Collect what an import says about a file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from traces.interchange.imports.rewrite_check import Rewrite

MAX_REMARKS = 1000


@dataclass(frozen=True, slots=True)
class Remark:
    """An error or a warning. `type` is for programs, `line` is where the problem starts."""

    type: str
    message: str
    line: int | None = None

    def to_dict(self) -> dict[str, Any]:
        return {"type": self.type, "message": self.message, "line": self.line}


@dataclass(slots=True)
class ImportReport:
    """Counts and remarks of an import. `entries` are new, `duplicates` were stored before.

    Lists are cut at `MAX_REMARKS`, counts are not. `foreign_chain` is what `ForeignChain.summary` returns;
    `rewrite` describes a file whose history was rewritten. In a repository, `absent_revisions` are entries
    whose commit is not there, `left_out` are notes that could not be read.
    """

    entries: int = 0
    duplicates: int = 0
    errors: list[Remark] = field(default_factory=list)
    warnings: list[Remark] = field(default_factory=list)
    error_count: int = 0
    warning_count: int = 0
    foreign_chain: dict[str, Any] | None = None
    rewrite: Rewrite | None = None
    absent_revisions: int = 0
    left_out: int = 0

    @property
    def is_valid(self) -> bool:
        return self.error_count == 0

    def error(self, remark: Remark) -> None:
        self.error_count += 1
        if len(self.errors) < MAX_REMARKS:
            self.errors.append(remark)

    def warn(self, remark: Remark) -> None:
        self.warning_count += 1
        if len(self.warnings) < MAX_REMARKS:
            self.warnings.append(remark)

    def drain(self) -> ImportReport:
        """Move the remarks so far into a report of their own."""
        drained = replace(self)
        self.errors, self.warnings, self.error_count, self.warning_count = [], [], 0, 0
        self.absent_revisions = self.left_out = 0
        return drained

    def merge(self, other: ImportReport) -> None:
        """Add the remarks of another report."""
        self.errors += other.errors[: MAX_REMARKS - len(self.errors)]
        self.warnings += other.warnings[: MAX_REMARKS - len(self.warnings)]
        self.error_count += other.error_count
        self.warning_count += other.warning_count
        self.absent_revisions += other.absent_revisions
        self.left_out += other.left_out

    def leave_out(self, remark: Remark) -> None:
        """Warn of a part of a repository that is not in the ledger now."""
        self.left_out += 1
        self.warn(remark)

    def to_dict(self) -> dict[str, Any]:
        return {
            "valid": self.is_valid,
            "entries": self.entries,
            "duplicates": self.duplicates,
            "errors": [remark.to_dict() for remark in self.errors],
            "warnings": [remark.to_dict() for remark in self.warnings],
            "warning_count": self.warning_count,
            "absent_revisions": self.absent_revisions,
            "left_out": self.left_out,
            "foreign_chain": self.foreign_chain,
            "rewrite": self.rewrite.to_dict() if self.rewrite else None,
        }
