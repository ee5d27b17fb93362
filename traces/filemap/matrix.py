"""The map as a table: folders and files down, intents across; in each cell who owns and who touched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from controlplane.policy.globs.scope import Scope, find_overlaps
from traces.counts.counters import EPOCH
from traces.entries.known_intents import KnownIntent
from traces.filemap.touches import Touch

OPEN = frozenset({"PENDING", "IN_PROGRESS", "BLOCKED"})
STATES = ("outside", "shared", "both", "owned")  # what is worth a look first
RANKS = {state: rank for rank, state in enumerate(STATES)}
WORDS = {
    "both": "owned and touched",
    "owned": "owned, not touched",
    "outside": "touched outside its scope",
    "shared": "owned by two intents",
}
MAX_OWNED_PATHS = 200_000  # whose owners are remembered, for one set of scopes


class Cell(NamedTuple):
    """Who owns and how often was touched, for one file or folder and one intent."""

    state: str  # both | owned | outside | shared
    entries: int

    @property
    def words(self) -> str:
        return f"{WORDS[self.state]}, {self.entries} entr{'y' if self.entries == 1 else 'ies'}"


class FileView(NamedTuple):
    """A file with its cells by the intents that own or touched it; `changed` in microseconds since 1970."""

    path: str
    cells: Mapping[str, Cell]
    owners: tuple[str, ...]
    entries: int
    changed: int

    @property
    def last(self) -> datetime | None:
        return EPOCH + timedelta(microseconds=self.changed) if self.changed else None


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two open intents whose scopes both match `path`; `files` of the known ones are in both.

    `patterns` are those by which they own that path; `both_wrote` of the files were changed under both, and
    `coupling` is how many per cent of the changes to what either wrote were made in those files.
    """

    a: str
    b: str
    path: str
    files: int
    patterns: tuple[str, str] = ("", "")
    both_wrote: int = 0
    coupling: int = 0


@dataclass(slots=True)
class Owners:
    """Who owns a path, for one set of scopes. Answers are remembered: they follow from these two alone."""

    scopes: tuple[tuple[str, Scope], ...]
    _known: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def __call__(self, path: str) -> tuple[str, ...]:
        known = self._known.get(path)
        if known is None:
            if len(self._known) >= MAX_OWNED_PATHS:
                self._known.clear()
            known = tuple(intent_id for intent_id, scope in self.scopes if scope.matches(path))
            self._known[path] = known
        return known


def owners_by(intents: Iterable[KnownIntent]) -> Owners:
    """Only open intents own."""
    return _owners(tuple((one.intent_id, one.owned_scope) for one in intents if is_open(one)))


def file_views(
    touched: Iterable[Touch], intents: Sequence[KnownIntent], untouched: Iterable[str] = ()
) -> list[FileView]:
    """Every touched file and every other that is there, by path. What closed intents touched stays."""
    owners, known = owners_by(intents), {one.intent_id: one for one in intents}
    grouped = groupby(sorted(touched), key=attrgetter("path"))
    files = [_file_view(path, list(group), owners(path), known) for path, group in grouped]
    others = set(untouched) - {file.path for file in files}
    files += [_file_view(path, [], owners(path), known) for path in others]
    return sorted(files) if others else files


def overlaps_of(intents: Iterable[KnownIntent], files: Sequence[FileView]) -> list[Overlap]:
    """Pairs of open intents that own a path together, with one that both match."""
    alive = [one for one in intents if is_open(one)]
    found = find_overlaps([Scope.from_patterns(one.owned_scope) for one in alive])
    contested = [file for file in files if len(file.owners) > 1]
    return [_overlap(alive[first], alive[second], witness, contested) for first, second, witness in found]


def is_open(intent: KnownIntent) -> bool:
    return not intent.removed and intent.status in OPEN


def owning_pattern(intent: KnownIntent, path: str) -> str:
    """The pattern by which an intent owns a file, "" when it does not."""
    if not Scope.from_patterns(intent.owned_scope).matches(path):
        return ""
    return next((one for one in intent.owned_scope if Scope.from_patterns([one]).matches(path)), "")


def worse(one: Cell | None, other: Cell) -> Cell:
    """What a folder shows of two cells below it: the state more worth a look, the sum of entries."""
    if one is None:
        return other
    state = one.state if RANKS[one.state] <= RANKS[other.state] else other.state
    return cell_of(state, one.entries + other.entries)


@lru_cache(maxsize=4096)
def cell_of(state: str, entries: int) -> Cell:
    """Few cells differ: sharing them spares the collector of garbage a walk through tens of thousands."""
    return Cell(state, entries)


@lru_cache(maxsize=8)
def _owners(scopes: tuple[tuple[str, tuple[str, ...]], ...]) -> Owners:
    return Owners(tuple((intent_id, Scope.from_patterns(patterns)) for intent_id, patterns in scopes))


def _overlap(a: KnownIntent, b: KnownIntent, path: str, files: Sequence[FileView]) -> Overlap:
    both = [file for file in files if a.intent_id in file.owners and b.intent_id in file.owners]
    wrote = [[file.cells[one.intent_id].entries for one in (a, b)] for file in both]
    shared = sum(sum(pair) for pair in wrote if all(pair))
    every = sum(sum(pair) for pair in wrote)
    patterns = (owning_pattern(a, path), owning_pattern(b, path))
    together = sum(all(pair) for pair in wrote)
    coupling = round(100 * shared / every) if every else 0
    return Overlap(a.intent_id, b.intent_id, path, len(both), patterns, together, coupling)


def _file_view(
    path: str, found: Sequence[Touch], owners: tuple[str, ...], intents: Mapping[str, KnownIntent]
) -> FileView:
    cells = dict.fromkeys(owners, cell_of("shared" if len(owners) > 1 else "owned", 0))
    for touch in found:
        name = touch.intent_id
        if name in cells:
            cells[name] = cell_of("shared" if len(owners) > 1 else "both", touch.entries)
        elif name in intents:
            cells[name] = cell_of("both" if _owned_once(intents[name], path) else "outside", touch.entries)
    if len(found) == 1:  # nearly every file; the sums below cost more than all the rest
        return FileView(path, cells, owners, found[0].entries, found[0].changed)
    entries = sum(touch.entries for touch in found)
    return FileView(path, cells, owners, entries, max((touch.changed for touch in found), default=0))


def _owned_once(intent: KnownIntent, path: str) -> bool:
    """A closed intent owns nothing any more, but what it touched inside its scope was rightly its own."""
    return not is_open(intent) and Scope.from_patterns(intent.owned_scope).matches(path)
