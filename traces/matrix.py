"""The map as a table: folders and files down, intents across; in each cell who owns and who touched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from controlplane.policy.scopes import Scope, overlaps
from traces.filemap import Touch
from traces.known_intents import KnownIntent

OPEN = frozenset({"PENDING", "IN_PROGRESS", "BLOCKED"})
ROWS_MOST = 2000
DEPTH_MOST = 6  # as far as the style sheet indents
STATES = ("outside", "shared", "both", "owned")  # what is worth a look first
WORDS = {
    "both": "owned and touched",
    "owned": "owned, not touched",
    "outside": "touched outside its scope",
    "shared": "owned by two intents",
}


@dataclass(frozen=True, slots=True)
class Cell:
    state: str  # both | owned | outside | shared
    entries: int
    words: str


@dataclass(frozen=True, slots=True)
class MapRow:
    path: str
    name: str
    depth: int
    is_folder: bool
    files: int
    contested: bool
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True)
class FileView:
    """A file with its cell under each intent of the map, in the same order."""

    path: str
    cells: tuple[Cell | None, ...]
    owners: tuple[str, ...]
    entries: int
    last: datetime | None


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two open intents whose scopes both match `path`; `files` of the known ones are in both."""

    a: str
    b: str
    path: str
    files: int


def file_views(touched: Iterable[Touch], intents: list[KnownIntent]) -> list[FileView]:
    """Every touched file, by path. Only open intents own; what others once touched stays visible."""
    by_path: dict[str, dict[str, Touch]] = defaultdict(dict)
    for touch in touched:
        by_path[touch.path][touch.intent_id] = touch
    scopes = {one.intent_id: Scope.of(one.owned_scope) for one in intents if is_open(one)}
    return [_file_view(path, found, intents, scopes) for path, found in sorted(by_path.items())]


def rows_of(files: list[FileView]) -> list[MapRow]:
    """The tree, folders before what is below them, at most `ROWS_MOST` rows."""
    below: dict[str, list[FileView]] = defaultdict(list)
    for file in files:
        for folder in _folders(file.path):
            below[folder].append(file)
    paths = sorted([*below, *(file.path for file in files)], key=lambda path: _sort_key(path, below))
    by_path = {file.path: file for file in files}
    return [
        _folder_row(path, below[path]) if path in below else _file_row(by_path[path])
        for path in paths[:ROWS_MOST]
    ]


def overlaps_of(intents: list[KnownIntent], files: list[FileView]) -> list[Overlap]:
    """Pairs of open intents that own a path together, with one that both match."""
    alive = [one for one in intents if is_open(one)]
    return [
        Overlap(
            alive[first].intent_id,
            alive[second].intent_id,
            witness,
            sum({alive[first].intent_id, alive[second].intent_id} <= set(file.owners) for file in files),
        )
        for first, second, witness in overlaps([Scope.of(one.owned_scope) for one in alive])
    ]


def is_open(intent: KnownIntent) -> bool:
    return not intent.removed and intent.status in OPEN


def owning_pattern(intent: KnownIntent, path: str) -> str:
    """The pattern by which an intent owns a file, "" when it does not."""
    if not Scope.of(intent.owned_scope).matches(path):
        return ""
    return next((one for one in intent.owned_scope if Scope.of([one]).matches(path)), "")


def _file_view(
    path: str, found: dict[str, Touch], intents: list[KnownIntent], scopes: dict[str, Scope]
) -> FileView:
    owners = tuple(intent_id for intent_id, scope in scopes.items() if scope.matches(path))
    cells = tuple(_cell(one, found.get(one.intent_id), owners) for one in intents)
    entries = sum(touch.entries for touch in found.values())
    return FileView(path, cells, owners, entries, max(touch.last for touch in found.values()))


def _cell(intent: KnownIntent, touch: Touch | None, owners: tuple[str, ...]) -> Cell | None:
    owns = intent.intent_id in owners
    if touch is None and not owns:
        return None
    if owns and len(owners) > 1:
        state = "shared"
    elif owns:
        state = "both" if touch else "owned"
    else:
        state = "outside" if is_open(intent) or not _owned_once(intent, touch) else "both"
    entries = touch.entries if touch else 0
    return Cell(state, entries, f"{intent.intent_id}: {WORDS[state]}, {entries} entries")


def _owned_once(intent: KnownIntent, touch: Touch | None) -> bool:
    """A closed intent owns nothing any more, but what it touched inside its scope was rightly its own."""
    return touch is not None and Scope.of(intent.owned_scope).matches(touch.path)


def _folder_row(path: str, files: list[FileView]) -> MapRow:
    columns = zip(*(file.cells for file in files), strict=True)
    cells = tuple(_summed([cell for cell in column if cell]) for column in columns)
    return MapRow(f"{path}/", _name(path), _depth(path), True, len(files), False, cells)


def _file_row(file: FileView) -> MapRow:
    contested = len(file.owners) > 1
    return MapRow(file.path, _name(file.path), _depth(file.path), False, 1, contested, file.cells)


def _summed(cells: list[Cell]) -> Cell | None:
    if not cells:
        return None
    state = min((cell.state for cell in cells), key=STATES.index)
    entries = sum(cell.entries for cell in cells)
    return Cell(state, entries, f"{WORDS[state]}, {entries} entries in {len(cells)} files")


def _folders(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def _sort_key(path: str, folders: dict[str, list[FileView]]) -> list[tuple[bool, str]]:
    """Folders before files on each level."""
    parts = path.split("/")
    last = len(parts) - 1
    return [(at == last and path not in folders, part) for at, part in enumerate(parts)]


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _depth(path: str) -> int:
    return min(path.count("/"), DEPTH_MOST)
