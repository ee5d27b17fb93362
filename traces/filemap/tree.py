"""The rows of the map: folders that open, so that a large tree stays a small page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from traces.filemap.matrix import Cell, FileView, worse

MAX_ROWS = 80
MAX_DEPTH = 6  # as far as the style sheet indents


@dataclass(frozen=True, slots=True)
class MapRow:
    """A folder or a file. `files` and `unowned` count what is below a folder; `cells` follow the columns."""

    path: str
    name: str
    depth: int
    is_folder: bool
    is_open: bool
    files: int
    unowned: int
    contested: bool
    cells: tuple[Cell | None, ...]


@dataclass(slots=True)
class Folder:
    """What stands directly in a folder, and sums of everything below it."""

    path: str
    folders: dict[str, Folder] = field(default_factory=dict)
    files: list[FileView] = field(default_factory=list)
    below: int = 0
    unowned: int = 0
    cells: dict[str, Cell] = field(default_factory=dict)


def tree_of(files: Iterable[FileView]) -> Folder:
    """Files go into their folders one by one, sums go up from folder to folder."""
    direct: dict[str, list[FileView]] = defaultdict(list)
    for file in files:
        direct[file.path.rpartition("/")[0]].append(file)
    root = Folder("")
    for path, own in direct.items():
        way = _way(root, path)
        way[-1].files = own
        sums = _sums(own)
        for folder in way:
            _add(folder, len(own), sum(not file.owners for file in own), sums)
    return root


def _way(root: Folder, path: str) -> list[Folder]:
    """The folders from the root to a path, made where they are missing."""
    way, parts = [root], path.split("/") if path else []
    for depth, name in enumerate(parts):
        folders = way[-1].folders
        if name not in folders:
            folders[name] = Folder("/".join(parts[: depth + 1]))
        way.append(folders[name])
    return way


def _sums(files: Iterable[FileView]) -> dict[str, Cell]:
    sums: dict[str, Cell] = {}
    for file in files:
        for intent_id, cell in file.cells.items():
            sums[intent_id] = worse(sums.get(intent_id), cell)
    return sums


def _add(folder: Folder, files: int, unowned: int, sums: Mapping[str, Cell]) -> None:
    folder.below += files
    folder.unowned += unowned
    for intent_id, cell in sums.items():
        folder.cells[intent_id] = worse(folder.cells.get(intent_id), cell)


def rows_of(
    root: Folder, columns: Sequence[str], at: str = "", *, unfold: bool = True
) -> tuple[list[MapRow], int]:
    """(rows, files and folders left out). Open are the folders on the way to `at`, `at` itself, and with
    `unfold` those below it, level by level, as long as the rows are not more than `MAX_ROWS`.
    """
    opened = _opened(root, at, unfold=unfold)
    rows = list(_rows(root, columns, opened))
    return rows[:MAX_ROWS], max(0, len(rows) - MAX_ROWS)


def _opened(root: Folder, at: str, *, unfold: bool) -> set[str]:
    """Paths of the folders that are open; the root always is."""
    parts = at.strip("/").split("/") if at.strip("/") else []
    folder, opened = root, {""}
    for name in parts:
        if name not in folder.folders:
            break
        folder = folder.folders[name]
        opened.add(folder.path)
    room = MAX_ROWS - sum(1 for _ in _rows(root, (), opened))
    level = list(folder.folders.values())
    while unfold and level:
        room -= sum(len(one.folders) + len(one.files) for one in level)
        if room < 0:
            break
        opened |= {one.path for one in level}
        level = [child for one in level for child in one.folders.values()]
    return opened


def _rows(folder: Folder, columns: Sequence[str], opened: set[str], depth: int = 0) -> Iterable[MapRow]:
    """Folders before files on each level."""
    for name in sorted(folder.folders):
        child = folder.folders[name]
        yield _folder_row(child, name, depth, columns, is_open=child.path in opened)
        if child.path in opened:
            yield from _rows(child, columns, opened, depth + 1)
    for file in folder.files:
        yield _file_row(file, depth, columns)


def _folder_row(folder: Folder, name: str, depth: int, columns: Sequence[str], *, is_open: bool) -> MapRow:
    cells = tuple(folder.cells.get(one) for one in columns)
    return MapRow(
        f"{folder.path}/",
        name,
        min(depth, MAX_DEPTH),
        True,
        is_open,
        folder.below,
        folder.unowned,
        False,
        cells,
    )


def _file_row(file: FileView, depth: int, columns: Sequence[str]) -> MapRow:
    cells = tuple(file.cells.get(one) for one in columns)
    name = file.path.rsplit("/", 1)[-1]
    contested = len(file.owners) > 1
    return MapRow(
        file.path, name, min(depth, MAX_DEPTH), False, False, 1, int(not file.owners), contested, cells
    )
