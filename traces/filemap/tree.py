"""Build the rows of the map: directories that open, so that a large tree stays a small page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from traces.filemap.matrix import MapFile, MatrixCell, merge_cells

MAX_ROWS = 80
MAX_DEPTH = 6  # as far as the style sheet indents


@dataclass(frozen=True, slots=True)
class MapRow:
    """A directory or a file.

    `files` and `unowned` count what is below a directory; `cells` follow the columns.
    """

    path: str
    name: str
    depth: int
    is_directory: bool
    is_open: bool
    files: int
    unowned: int
    contested: bool
    cells: tuple[MatrixCell | None, ...]


@dataclass(slots=True)
class Directory:
    """The children of a directory, and sums of everything below it."""

    path: str
    directories: dict[str, Directory] = field(default_factory=dict)
    files: list[MapFile] = field(default_factory=list)
    file_count: int = 0
    unowned: int = 0
    cells: dict[str, MatrixCell] = field(default_factory=dict)


def build_tree(files: Iterable[MapFile]) -> Directory:
    """Build the tree: files are added to their directories, sums to all directories above."""
    direct: dict[str, list[MapFile]] = defaultdict(list)
    for file in files:
        direct[file.path.rpartition("/")[0]].append(file)
    root = Directory("")
    for path, siblings in direct.items():
        ancestors = _ensure_path(root, path)
        ancestors[-1].files = siblings
        sums = _sum_cells(siblings)
        for directory in ancestors:
            _add_to_directory(directory, len(siblings), sum(not file.owners for file in siblings), sums)
    return root


def _ensure_path(root: Directory, path: str) -> list[Directory]:
    """Return the directories from the root to a path; create those that are missing."""
    path_nodes, parts = [root], path.split("/") if path else []
    for depth, name in enumerate(parts):
        children = path_nodes[-1].directories
        if name not in children:
            children[name] = Directory("/".join(parts[: depth + 1]))
        path_nodes.append(children[name])
    return path_nodes


def _sum_cells(files: Iterable[MapFile]) -> dict[str, MatrixCell]:
    sums: dict[str, MatrixCell] = {}
    for file in files:
        for intent_id, cell in file.cells.items():
            sums[intent_id] = merge_cells(sums.get(intent_id), cell)
    return sums


def _add_to_directory(directory: Directory, files: int, unowned: int, sums: Mapping[str, MatrixCell]) -> None:
    directory.file_count += files
    directory.unowned += unowned
    for intent_id, cell in sums.items():
        directory.cells[intent_id] = merge_cells(directory.cells.get(intent_id), cell)


def build_rows(
    root: Directory, columns: Sequence[str], at: str = "", *, unfold: bool = True
) -> tuple[list[MapRow], int]:
    """Return (rows, number of rows left out).

    Open are the directories on the path to `at`, `at` itself and, with `unfold`, those below it, level by
    level, while the rows are not more than `MAX_ROWS`.
    """
    open_paths = _find_open_paths(root, at, unfold=unfold)
    rows = list(_iterate_rows(root, columns, open_paths))
    return rows[:MAX_ROWS], max(0, len(rows) - MAX_ROWS)


def _find_open_paths(root: Directory, at: str, *, unfold: bool) -> set[str]:
    """Return the paths of the open directories; the root is always open."""
    parts = at.strip("/").split("/") if at.strip("/") else []
    directory, open_paths = root, {""}
    for name in parts:
        if name not in directory.directories:
            break
        directory = directory.directories[name]
        open_paths.add(directory.path)
    rows_left = MAX_ROWS - sum(1 for _ in _iterate_rows(root, (), open_paths))
    level = list(directory.directories.values())
    while unfold and level:
        rows_left -= sum(len(node.directories) + len(node.files) for node in level)
        if rows_left < 0:
            break
        open_paths |= {node.path for node in level}
        level = [child for node in level for child in node.directories.values()]
    return open_paths


def _iterate_rows(
    directory: Directory, columns: Sequence[str], open_paths: set[str], depth: int = 0
) -> Iterable[MapRow]:
    """Yield rows, on each level directories before files."""
    for name in sorted(directory.directories):
        child = directory.directories[name]
        yield _build_directory_row(child, name, depth, columns, is_open=child.path in open_paths)
        if child.path in open_paths:
            yield from _iterate_rows(child, columns, open_paths, depth + 1)
    for file in directory.files:
        yield _build_file_row(file, depth, columns)


def _build_directory_row(
    directory: Directory, name: str, depth: int, columns: Sequence[str], *, is_open: bool
) -> MapRow:
    cells = tuple(directory.cells.get(intent_id) for intent_id in columns)
    return MapRow(
        f"{directory.path}/",
        name,
        min(depth, MAX_DEPTH),
        True,
        is_open,
        directory.file_count,
        directory.unowned,
        False,
        cells,
    )


def _build_file_row(file: MapFile, depth: int, columns: Sequence[str]) -> MapRow:
    cells = tuple(file.cells.get(intent_id) for intent_id in columns)
    name = file.path.rsplit("/", 1)[-1]
    contested = len(file.owners) > 1
    return MapRow(
        file.path, name, min(depth, MAX_DEPTH), False, False, 1, int(not file.owners), contested, cells
    )
