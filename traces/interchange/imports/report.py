"""What an import says about a file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from traces.interchange.imports.rewrite_check import Rewrite

MAX_LISTED = 1000


@dataclass(frozen=True, slots=True)
class Remark:
    """`type` is a word for programs, `line` the line of the file on which the matter begins."""

    type: str
    message: str
    line: int | None = None

    def answer(self) -> dict[str, Any]:
        return {"type": self.type, "message": self.message, "line": self.line}


@dataclass(slots=True)
class ImportReport:
    """`entries` are new, `duplicates` were there already. Lists are cut at `MAX_LISTED`, counts are not.

    `foreign_chain` is what `ForeignChain.summary` gives; `rewrite` tells a file whose past has changed.
    """

    entries: int = 0
    duplicates: int = 0
    errors: list[Remark] = field(default_factory=list)
    warnings: list[Remark] = field(default_factory=list)
    error_count: int = 0
    warning_count: int = 0
    foreign_chain: dict[str, Any] | None = None
    rewrite: Rewrite | None = None

    @property
    def valid(self) -> bool:
        return self.error_count == 0

    def error(self, remark: Remark) -> None:
        self.error_count += 1
        if len(self.errors) < MAX_LISTED:
            self.errors.append(remark)

    def warn(self, remark: Remark) -> None:
        self.warning_count += 1
        if len(self.warnings) < MAX_LISTED:
            self.warnings.append(remark)

    def taken(self) -> ImportReport:
        """What it holds of remarks, which it holds no more afterwards."""
        part = replace(self)
        self.errors, self.warnings, self.error_count, self.warning_count = [], [], 0, 0
        return part

    def take_in(self, part: ImportReport) -> None:
        """Add the remarks of a part, as if they had been made here."""
        self.errors += part.errors[: MAX_LISTED - len(self.errors)]
        self.warnings += part.warnings[: MAX_LISTED - len(self.warnings)]
        self.error_count += part.error_count
        self.warning_count += part.warning_count

    def answer(self) -> dict[str, Any]:
        return {
            "valid": self.valid,
            "entries": self.entries,
            "duplicates": self.duplicates,
            "errors": [remark.answer() for remark in self.errors],
            "warnings": [remark.answer() for remark in self.warnings],
            "foreign_chain": self.foreign_chain,
            "rewrite": self.rewrite.answer() if self.rewrite else None,
        }
