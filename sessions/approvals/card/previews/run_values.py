"""Values of the card of a contained run; `_run.html` describes each field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from controlplane.templatetags.diffs import Hunk
from sessions.approvals.triage.dangers import Danger


@dataclass(frozen=True, slots=True)
class HeldFile:
    """A file that waits. `state`: held, approved (not landed yet), landed, refused, discarded."""

    path: str
    note: str
    hunks: tuple[Hunk, ...]
    added: int | None
    removed: int | None
    facts: tuple[str, ...]  # sizes and hashes where there is no diff
    why: str
    dangers: tuple[Danger, ...]
    state: str
    ticked: bool
    refused: str = ""  # why the client could not land it
    seal: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file that landed by itself, or was thrown away."""

    path: str
    note: str
    added: int | None
    removed: int | None
    why: str
    seal: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class RunCounts:
    landed: int
    held: int
    discarded: int
    git: int  # of git's own files that landed: a commit
    ignored: int

    @property
    def changed(self) -> int:
        return self.landed + self.held + self.discarded + self.git


@dataclass(frozen=True, slots=True)
class HeldPage:
    """One page of what waits; `others` files are on the other pages, and ticked as one."""

    number: int
    last: int
    others: int
    others_ticked: bool


@dataclass(frozen=True, slots=True)
class RunView:
    id: str
    command: str
    exit_code: int | None
    duration_ms: int | None
    reported_at: datetime | None
    started_at: datetime | None
    network: str
    hidden: int
    contained_by: str
    counts: RunCounts
    files: tuple[HeldFile, ...]
    page: HeldPage
    added: int
    removed: int
    landed: tuple[ListedFile, ...]
    discarded: tuple[ListedFile, ...]


@dataclass(frozen=True, slots=True)
class RunChoice:
    """Which page of the files is shown, and what a refused answer had ticked; None: all of it."""

    page: int = 1
    ticked: frozenset[str] | None = None
    others: bool = True


ALL = RunChoice()
