"""Reading the input of a tool call, which is hostile: any JSON value may stand in any field.

Every recognised path key counts, whatever the tool, so that no second key can carry a path past
the gate. Values are handed on as they are; `paths.canonical` refuses what is no text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

SOURCE_KEYS = ("source", "source_path", "sourcePath", "old_path", "oldPath")
ODD_SOURCE_KEYS = ("from", "src")
DESTINATION_KEYS = (
    "destination",
    "destination_path",
    "destinationPath",
    "new_path",
    "newPath",
    "to",
    "dest",
    "dst",
)

# `from`, `to` and the like say something else in most tools: they count for moves only.
PATH_KEYS = frozenset(
    {
        *SOURCE_KEYS,
        *DESTINATION_KEYS[:5],
        "path",
        "file_path",
        "filePath",
        "filepath",
        "filename",
        "file_name",
        "file",
        "absolute_path",
        "relative_path",
        "relative_workspace_path",
        "target_file",
        "notebook_path",
        "notebookPath",
        "dir_path",
        "dirPath",
        "directory",
        "directory_path",
        "folder",
    },
)

# In a piece of an edit the other keys may hold text.
PIECE_KEYS = frozenset(
    {"path", "file_path", "filePath", "filepath", "filename", "file", "target_file", "absolute_path"}
)

# Lists of paths, or of objects that hold one (`files: [{"path": …}]`).
LIST_KEYS = frozenset({"paths", "files", "file_paths", "filePaths"})

# A client may run the command under another key than the tool's own.
COMMAND_KEYS = ("command", "cmd", "commands", "script")
ADDRESS_KEYS = ("url", "uri", "urls", "uris")

PATTERN_KEYS = ("pattern", "patterns", "include", "paths")
FOLDER_KEYS = ("cwd", "workdir", "working_directory", "dir_path", "directory")

# (what is replaced, what takes its place), in the words of the different agents
REPLACEMENTS = (
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_text", "new_text"),
    ("old_str", "new_str"),
    ("search", "replace"),
)
CONTENT_KEYS = (
    "content",
    "contents",
    "file_text",
    "text",
    "insert_text",
    "new_source",
    "code_edit",
    "code",
    "args",
)
EDIT_LIST_KEYS = ("edits", "operations", "replacements", "files")

_WILD = re.compile(r"[*?\[{]")
# After a wildcard: a step up, or a brace alternative that begins anew, cannot be followed.
_DETOUR = re.compile(r"(?:^|[/{,])\.\.(?:$|[/},])|[{,][/~$\\]")
_TAGGED_PATH = re.compile(r"<path>([^<]*)</path>")
_BLOCK_SIDES = (
    (re.compile(r"[<-]{6,} ?SEARCH"), "before"),
    (re.compile(r"={6,}\s*$"), "after"),
    (re.compile(r"[>+]{6,} ?REPLACE"), None),
)


def named_paths(data: Mapping[str, Any]) -> Iterator[Any]:
    """The value of every path key that is present and not null, as it is."""
    for key, value in data.items():
        if value is None:
            continue
        if key in PATH_KEYS:
            yield value
        elif key in LIST_KEYS:
            yield from _listed_paths(value)
        elif key in EDIT_LIST_KEYS and isinstance(value, list):
            yield from (
                item[own] for item in value if isinstance(item, Mapping) for own in PIECE_KEYS & item.keys()
            )
        elif key == "args" and isinstance(value, str):
            yield from _TAGGED_PATH.findall(value)


def _listed_paths(value: Any) -> Iterator[Any]:
    if not isinstance(value, list):
        yield value
        return
    for item in value:
        if isinstance(item, Mapping):
            yield from named_paths(item)
        else:
            yield item


def literal_folder(pattern: str) -> str | None:
    """What a glob names for certain: the whole path, or the folder before its first wildcard ("" is
    where it starts). None when the rest may lead elsewhere."""
    segments = pattern.split("/")
    wild = next((i for i, segment in enumerate(segments) if _WILD.search(segment)), None)
    if wild is None:
        return pattern
    if _DETOUR.search("/".join(segments[wild:])):
        return None
    folder = "/".join(segments[:wild])
    return "/" if wild == 1 and not folder else folder


def first(data: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """The value of the first key that is present and not null; None if there is none."""
    return next((data[key] for key in keys if data.get(key) is not None), None)


def every(data: Mapping[str, Any], keys: tuple[str, ...]) -> list[Any]:
    return [data[key] for key in keys if data.get(key) is not None]


def texts(value: Any) -> list[str] | None:
    """A text or a non-empty list of texts, as a list; None for anything else."""
    items = value if isinstance(value, list) else [value]
    return items if items and all(isinstance(item, str) for item in items) else None


def content(data: Mapping[str, Any]) -> str:
    """The whole text that a writing tool would store; what is no text, as JSON."""
    return as_text(first(data, CONTENT_KEYS))


def replacements(data: Mapping[str, Any]) -> tuple[str, str]:
    """What an editing tool would take out and put in, all its pieces joined."""
    before: list[str] = []
    after: list[str] = []
    for part in (data, *_edits(data)):
        for old, new in REPLACEMENTS:
            before.append(as_text(part.get(old)))
            after.append(as_text(part.get(new)))
        after.extend(as_text(part[key]) for key in CONTENT_KEYS if key in part)
        gone, come = search_and_replace(as_text(part.get("diff")))
        before.append(gone)
        after.append(come)
    return "\n".join(filter(None, before)), "\n".join(filter(None, after))


def _edits(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for key in EDIT_LIST_KEYS:
        value = data.get(key)
        yield from (item for item in (value if isinstance(value, list) else ()) if isinstance(item, Mapping))


def search_and_replace(diff: str) -> tuple[str, str]:
    """The two sides of `<<<<<<< SEARCH … ======= … >>>>>>> REPLACE` blocks, read line by line; a text
    without such blocks counts as new text altogether."""
    sides: dict[str | None, list[str]] = {"before": [], "after": [], None: []}
    side: str | None = None
    for line in diff.splitlines():
        turned = next((to for pattern, to in _BLOCK_SIDES if pattern.match(line)), "stays")
        if turned == "stays":
            sides[side].append(line)
        else:
            side = turned
    if not (sides["before"] or sides["after"]):
        return "", diff
    return "\n".join(sides["before"]), "\n".join(sides["after"])


def as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
