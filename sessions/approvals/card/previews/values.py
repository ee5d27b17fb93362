"""Values that the preview section of a card shows; `_preview.html` describes each field."""

from __future__ import annotations

from dataclasses import dataclass

from controlplane.templatetags.diffs import Hunk, count_changes
from sessions.approvals.card.command import CommandView


@dataclass(frozen=True, slots=True)
class FilePreview:
    path: str
    note: str = ""
    hunks: tuple[Hunk, ...] = ()


@dataclass(frozen=True, slots=True)
class PatternAddition:
    """Known files that a pattern would allow and the scope does not yet."""

    pattern: str
    files: tuple[str, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class Criterion:
    text: str
    met: bool = False
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Preview:
    """`complete` is True only where the full effect is visible; `sentence` says so, or what is missing."""

    complete: bool
    sentence: str
    note: str = ""
    files: tuple[FilePreview, ...] = ()
    command: CommandView | None = None
    adds: tuple[PatternAddition, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    input: str = ""

    @property
    def added(self) -> int | None:
        return self._totals()[0] if self.files else None

    @property
    def removed(self) -> int | None:
        return self._totals()[1] if self.files else None

    def _totals(self) -> tuple[int, int]:
        return count_changes(hunk for file in self.files for hunk in file.hunks)
