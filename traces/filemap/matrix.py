"""Build the map as a table: directories and files by intents; each cell shows who owns and who touched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from controlplane.policy.globs.overlaps import find_overlaps
from controlplane.policy.globs.scope import Scope
from traces.counts.counters import EPOCH
from traces.entries.known_intents import KnownIntent
from traces.filemap.touches import Touch

OPEN_STATUSES = frozenset({"PENDING", "IN_PROGRESS", "BLOCKED"})
CELL_STATES = ("outside", "shared", "both", "owned")  # what is worth a look first
STATE_RANKS = {state: rank for rank, state in enumerate(CELL_STATES)}
STATE_LABELS = {
    "both": "owned and touched",
    "owned": "owned, not touched",
    "outside": "touched outside its scope",
    "shared": "owned by several intents",
}
MAX_OWNED_PATHS = 200_000  # whose owners are remembered, for one set of scopes


class MatrixCell(NamedTuple):
    """Ownership and number of entries of one file or directory for one intent."""

    state: str  # both | owned | outside | shared
    entries: int

    @property
    def label(self) -> str:
        return f"{STATE_LABELS[self.state]}, {self.entries} entr{'y' if self.entries == 1 else 'ies'}"


class MapFile(NamedTuple):
    """A file with cells by the intents that own or touched it; `changed_us` in microseconds since 1970."""

    path: str
    cells: Mapping[str, MatrixCell]
    owners: tuple[str, ...]
    entries: int
    changed_us: int

    @property
    def last_changed(self) -> datetime | None:
        return EPOCH + timedelta(microseconds=self.changed_us) if self.changed_us else None


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two open intents whose scopes both match `path`; `files` of the known files are in both.

    `patterns` are those by which they own that path; `both_wrote` of the files were changed under both.
    `coupling` is the percentage of both intents' entries in shared files that went to files which both
    changed.
    """

    a: str
    b: str
    path: str
    files: int
    patterns: tuple[str, str] = ("", "")
    both_wrote: int = 0
    coupling: int = 0


@dataclass(slots=True)
class OwnerFinder:
    """Find the owners of a path in one set of scopes. Results are cached: they depend on nothing else."""

    scopes: tuple[tuple[str, Scope], ...]
    _owners: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def __call__(self, path: str) -> tuple[str, ...]:
        owners = self._owners.get(path)
        if owners is None:
            if len(self._owners) >= MAX_OWNED_PATHS:
                self._owners.clear()
            owners = tuple(intent_id for intent_id, scope in self.scopes if scope.matches(path))
            self._owners[path] = owners
        return owners


def build_owner_finder(intents: Iterable[KnownIntent]) -> OwnerFinder:
    """Build the lookup for open intents; closed ones own nothing."""
    return _cached_owner_finder(
        tuple((intent.intent_id, intent.owned_scope) for intent in intents if is_open(intent))
    )


def build_map_files(
    touches: Iterable[Touch], intents: Sequence[KnownIntent], untouched: Iterable[str] = ()
) -> list[MapFile]:
    """Return every touched file and the `untouched` ones, by path. Touches of closed intents are included."""
    owners, intents_by_id = build_owner_finder(intents), {intent.intent_id: intent for intent in intents}
    grouped = groupby(sorted(touches), key=attrgetter("path"))
    files = [_build_map_file(path, list(group), owners(path), intents_by_id) for path, group in grouped]
    others = set(untouched) - {file.path for file in files}
    files += [_build_map_file(path, [], owners(path), intents_by_id) for path in others]
    return sorted(files) if others else files


def list_overlaps(intents: Iterable[KnownIntent], files: Sequence[MapFile]) -> list[Overlap]:
    """Return pairs of open intents that own a common path, each with such a path."""
    open_intents = [intent for intent in intents if is_open(intent)]
    pairs = find_overlaps([Scope.from_patterns(intent.owned_scope) for intent in open_intents])
    contested = [file for file in files if len(file.owners) > 1]
    return [
        _build_overlap(open_intents[first], open_intents[second], witness, contested)
        for first, second, witness in pairs
    ]


def is_open(intent: KnownIntent) -> bool:
    return not intent.removed and intent.status in OPEN_STATUSES


def find_owning_pattern(intent: KnownIntent, path: str) -> str:
    """Return the pattern by which an intent owns a file, "" if it does not."""
    if not Scope.from_patterns(intent.owned_scope).matches(path):
        return ""
    return next(
        (pattern for pattern in intent.owned_scope if Scope.from_patterns([pattern]).matches(path)), ""
    )


def merge_cells(first: MatrixCell | None, second: MatrixCell) -> MatrixCell:
    """Combine two cells for their directory: the more urgent state, the sum of entries."""
    if first is None:
        return second
    state = first.state if STATE_RANKS[first.state] <= STATE_RANKS[second.state] else second.state
    return get_cell(state, first.entries + second.entries)


@lru_cache(maxsize=4096)
def get_cell(state: str, entries: int) -> MatrixCell:
    """Return a shared cell. Few cells differ, and sharing spares the garbage collector tens of thousands."""
    return MatrixCell(state, entries)


@lru_cache(maxsize=8)
def _cached_owner_finder(scopes: tuple[tuple[str, tuple[str, ...]], ...]) -> OwnerFinder:
    return OwnerFinder(tuple((intent_id, Scope.from_patterns(patterns)) for intent_id, patterns in scopes))


def _build_overlap(a: KnownIntent, b: KnownIntent, path: str, files: Sequence[MapFile]) -> Overlap:
    shared_files = [file for file in files if a.intent_id in file.owners and b.intent_id in file.owners]
    writes = [[file.cells[intent.intent_id].entries for intent in (a, b)] for file in shared_files]
    shared_entries = sum(sum(pair) for pair in writes if all(pair))
    all_entries = sum(sum(pair) for pair in writes)
    patterns = (find_owning_pattern(a, path), find_owning_pattern(b, path))
    both_wrote = sum(all(pair) for pair in writes)
    coupling = round(100 * shared_entries / all_entries) if all_entries else 0
    return Overlap(a.intent_id, b.intent_id, path, len(shared_files), patterns, both_wrote, coupling)


def _build_map_file(
    path: str, touches: Sequence[Touch], owners: tuple[str, ...], intents: Mapping[str, KnownIntent]
) -> MapFile:
    cells = dict.fromkeys(owners, get_cell("shared" if len(owners) > 1 else "owned", 0))
    for touch in touches:
        intent_id = touch.intent_id
        if intent_id in cells:
            cells[intent_id] = get_cell("shared" if len(owners) > 1 else "both", touch.entries)
        elif intent_id in intents:
            cells[intent_id] = get_cell(
                "both" if _owned_when_open(intents[intent_id], path) else "outside", touch.entries
            )
    if len(touches) == 1:  # nearly every file; the sums below cost more than all the rest
        return MapFile(path, cells, owners, touches[0].entries, touches[0].changed_us)
    entries = sum(touch.entries for touch in touches)
    return MapFile(path, cells, owners, entries, max((touch.changed_us for touch in touches), default=0))


def _owned_when_open(intent: KnownIntent, path: str) -> bool:
    """Whether a closed intent touched a file of its own scope: it owns nothing now, but did then."""
    return not is_open(intent) and Scope.from_patterns(intent.owned_scope).matches(path)
