"""Values that the preview section of a card shows; `_preview.html` describes each field."""

from __future__ import annotations

from dataclasses import dataclass

from controlplane.templatetags.diffs import Hunk, count_changes
from intents.criteria import CriterionState
from sessions.approvals.card.command import CommandView
from sessions.approvals.card.previews.run_values import RunView


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
    owners: str = ""  # ids of other intents that own some of them


@dataclass(frozen=True, slots=True)
class KindAddition:
    """A kind of command that a plan asks for: what is said to it now, and how people decided before."""

    kind: str
    now: str
    history: str


@dataclass(frozen=True, slots=True)
class PlanReplay:
    """Questions of the last 30 days: how many there were, how many a plan would have spared, what is left."""

    questions: int
    spared: int
    left: str


@dataclass(frozen=True, slots=True)
class Preview:
    """`complete` is True only where the full effect is visible; `sentence` says so, or what is missing."""

    complete: bool
    sentence: str
    note: str = ""
    files: tuple[FilePreview, ...] = ()
    command: CommandView | None = None
    adds: tuple[PatternAddition, ...] = ()
    kinds: tuple[KindAddition, ...] = ()
    replay: PlanReplay | None = None
    is_plan: bool = False
    criteria: tuple[CriterionState, ...] = ()
    open_criteria: int = 0  # criteria without evidence
    input: str = ""
    run: RunView | None = None  # a contained run has a preview of its own, see `_run.html`

    @property
    def added(self) -> int | None:
        return self._totals()[0] if self.files else None

    @property
    def removed(self) -> int | None:
        return self._totals()[1] if self.files else None

    def _totals(self) -> tuple[int, int]:
        return count_changes(hunk for file in self.files for hunk in file.hunks)
