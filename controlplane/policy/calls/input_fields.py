"""Reading the input of a tool call, which is hostile: any JSON value may stand in any field.

Every recognised path key counts, whatever the tool, so that no second key can carry a path past
the gate. Values are handed on as they are; `paths.canonical` refuses what is no text.
"""

from __future__ import annotations

import html
import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

import re2

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
EDIT_PATH_KEYS = frozenset(
    {"path", "file_path", "filePath", "filepath", "filename", "file", "target_file", "absolute_path"}
)

# Lists of paths, or of objects that hold one (`files: [{"path": …}]`).
LIST_KEYS = frozenset({"paths", "files", "file_paths", "filePaths"})

# A client may run the command under another key than the tool's own.
COMMAND_KEYS = ("command", "cmd", "commands", "script")
URL_KEYS = ("url", "uri", "urls", "uris")

PATTERN_KEYS = ("pattern", "patterns", "include", "paths")
FOLDER_KEYS = (
    "cwd",
    "workdir",
    "workDir",
    "working_directory",
    "workingDirectory",
    "working_dir",
    "dir_path",
    "dirPath",
    "directory",
)

# (what is replaced, what takes its place), in the words of the different agents
REPLACEMENTS = (
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_text", "new_text"),
    ("oldText", "newText"),
    ("old_str", "new_str"),
    ("oldStr", "newStr"),
    ("search", "replace"),
)
CONTENT_KEYS = (
    "content",
    "contents",
    "file_text",
    "text",
    "insert_text",
    "new_source",
    "newCode",
    "new_code",
    "code_edit",
    "code",
    "args",
)
DIFF_KEYS = ("diff", "args")
EDIT_LIST_KEYS = ("edits", "operations", "replacements", "files")

_WILD = re.compile(r"[*?\[{]")
_WILD_CHARS = re.compile(r"[*?\[\]{}]")
_AIM = re.compile(r"(?!~)[^\\:%$\x00-\x1f]{0,199}[^\\:%$\x00-\x1f. ]|\.\.")  # what reads as a plain name
# After a wildcard: a step up, or a brace alternative that begins anew, cannot be followed.
_DETOUR = re.compile(r"(?:^|[/{,])\.\.(?:$|[/},])|[{,][/~$\\]")
# Some clients send the files of a call as XML; RE2, because a text may open thousands of tags and close none.
_TAGGED_PATH = re2.compile(r"(?s)<path(?:\s[^>]*)?>(.*?)</path\s*>")
_CDATA = re2.compile(r"(?s)<!\[CDATA\[(.*?)\]\]>")
_FILE_ADDRESS = re.compile(r"file://(?:localhost)?(?=/)", re.IGNORECASE)


def list_paths(data: Mapping[str, Any]) -> Iterator[Any]:
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
                item[own]
                for item in value
                if isinstance(item, Mapping)
                for own in EDIT_PATH_KEYS & item.keys()
            )
        elif key == "args" and isinstance(value, str):
            yield from map(_untagged, _TAGGED_PATH.findall(value))


def _untagged(text: str) -> str:
    plain = _CDATA.sub(r"\1", text)
    return (plain if plain != text else html.unescape(text)).strip()


def list_nested_paths(data: Mapping[str, Any]) -> Iterator[str]:
    """The texts that stand under a path key deeper in an input, and the files that an address names: what
    a tool that nobody knows may act on besides its `named_paths`."""
    yield from map(_without_scheme, list_file_urls(data))
    waiting = deque(data.values())
    while waiting:
        value = waiting.popleft()
        if isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, Mapping):
            yield from map(_without_scheme, list_file_urls(value))
            named = (inner for key, inner in value.items() if key in PATH_KEYS or key in LIST_KEYS)
            yield from (text for inner in named for text in _items(inner) if isinstance(text, str))
            waiting.extend(value.values())


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def list_file_urls(data: Mapping[str, Any]) -> Iterator[str]:
    """Addresses that begin with `file:`, of an input or of the requests that it lists."""
    requests = data.get("requests")
    for part in (data, *(requests if isinstance(requests, list) else ())):
        values = get_all(part, URL_KEYS) if isinstance(part, Mapping) else ()
        for text in (text.strip() for value in values for text in to_text_list(value) or ()):
            if text.lower().startswith("file:"):
                yield text


def _without_scheme(address: str) -> str:
    """The path of a plain `file:///…` address. One with an escape stays what it is, and is refused."""
    return address if "%" in address else _FILE_ADDRESS.sub("", address)


def _listed_paths(value: Any) -> Iterator[Any]:
    if not isinstance(value, list):
        yield value
        return
    for item in value:
        if isinstance(item, Mapping):
            yield from list_paths(item)
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


def list_wildcard_names(pattern: str) -> Iterator[str]:
    """What a wildcard may be aimed at, where nobody can look what it matches: the pattern as it stands,
    because a line of `.intentignore` fits it so, and the name that is left without its wildcards."""
    for text in dict.fromkeys((pattern, _WILD_CHARS.sub("", pattern))):
        segments = [segment for segment in text.split("/") if segment not in {"", "."}]
        if segments and all(map(_AIM.fullmatch, segments)):
            yield "/" * pattern.startswith("/") + "/".join(segments)


def get_first(data: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """The value of the first key that is present and not null; None if there is none."""
    return next((data[key] for key in keys if data.get(key) is not None), None)


def get_all(data: Mapping[str, Any], keys: tuple[str, ...]) -> list[Any]:
    return [data[key] for key in keys if data.get(key) is not None]


def to_text_list(value: Any) -> list[str] | None:
    """A text or a non-empty list of texts, as a list; None for anything else."""
    items = _items(value)
    return items if items and all(isinstance(item, str) for item in items) else None


def get_content(data: Mapping[str, Any]) -> str:
    """The whole text that a writing tool would store; what is no text, as JSON."""
    return to_text(get_first(data, CONTENT_KEYS))


def to_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
