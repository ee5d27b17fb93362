"""Read the fields of a tool call's input, which is hostile: any JSON value may stand in any field.

Every known path key counts, whatever the tool, so that no second key can carry a path past the gate.
Values are passed on as they are; `paths.canonical` rejects what is no text.
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

# `from`, `to` and the like mean something else in most tools: they count for moves only.
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

# Path keys inside an item of an edit list; the other path keys may hold text there.
EDIT_PATH_KEYS = frozenset(
    {"path", "file_path", "filePath", "filepath", "filename", "file", "target_file", "absolute_path"}
)

# Lists of paths, or of objects that hold one (`files: [{"path": …}]`).
LIST_KEYS = frozenset({"paths", "files", "file_paths", "filePaths"})

# A client may run the command under another key than the one that the tool documents.
COMMAND_KEYS = ("command", "cmd", "commands", "script")
URL_KEYS = ("url", "uri", "urls", "uris")

PATTERN_KEYS = ("pattern", "patterns", "include", "paths")
# The files that a search looks into.
FILTER_KEYS = (
    "glob",
    "globs",
    "include",
    "includes",
    "include_pattern",
    "includePattern",
    "file_pattern",
    "filePattern",
)
DIRECTORY_KEYS = (
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

# (key of the text that is replaced, key of its replacement), as the different agents name them
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
_PLAIN_NAME = re.compile(
    r"(?!~)[^\\:%$\x00-\x1f]{0,199}[^\\:%$\x00-\x1f. ]|\.\."
)  # what reads as a plain name
# After a wildcard: a step up, or a brace alternative that starts at another root, leads out of the directory.
_ESCAPING_WILDCARD = re.compile(r"(?:^|[/{,])\.\.(?:$|[/},])|[{,][/~$\\]")
# Some clients send the files of a call as XML; RE2, because a text may open thousands of tags and close none.
_TAGGED_PATH = re2.compile(r"(?s)<path(?:\s[^>]*)?>(.*?)</path\s*>")
_CDATA = re2.compile(r"(?s)<!\[CDATA\[(.*?)\]\]>")
_FILE_URL = re.compile(r"file://(?:localhost)?(?=/)", re.IGNORECASE)


def list_paths(data: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the value of every path key that is present and not null, as it is."""
    for key, value in data.items():
        if value is None:
            continue
        if key in PATH_KEYS:
            yield value
        elif key in LIST_KEYS:
            yield from _list_paths_in_list(value)
        elif key in EDIT_LIST_KEYS and isinstance(value, list):
            yield from (
                item[name]
                for item in value
                if isinstance(item, Mapping)
                for name in EDIT_PATH_KEYS & item.keys()
            )
        elif key == "args" and isinstance(value, str):
            yield from map(_strip_xml, _TAGGED_PATH.findall(value))


def _strip_xml(text: str) -> str:
    plain = _CDATA.sub(r"\1", text)
    return (plain if plain != text else html.unescape(text)).strip()


def list_nested_paths(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts under a path key deeper in an input, and the files that URLs name: what an unknown
    tool may act on besides its `list_paths`."""
    yield from map(_without_scheme, list_file_urls(data))
    queue = deque(data.values())
    while queue:
        value = queue.popleft()
        if isinstance(value, list):
            queue.extend(value)
        elif isinstance(value, Mapping):
            yield from map(_without_scheme, list_file_urls(value))
            values = (inner for key, inner in value.items() if key in PATH_KEYS or key in LIST_KEYS)
            yield from (text for inner in values for text in _to_list(inner) if isinstance(text, str))
            queue.extend(value.values())


def _to_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def list_file_urls(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the `file:` URLs of an input, and of the requests that it lists."""
    requests = data.get("requests")
    for part in (data, *(requests if isinstance(requests, list) else ())):
        values = get_all(part, URL_KEYS) if isinstance(part, Mapping) else ()
        for text in (text.strip() for value in values for text in to_text_list(value) or ()):
            if text.lower().startswith("file:"):
                yield text


def _without_scheme(url: str) -> str:
    """Return the path of a plain `file:///…` URL. One with an escape stays a URL, and is rejected later."""
    return url if "%" in url else _FILE_URL.sub("", url)


def _list_paths_in_list(value: Any) -> Iterator[Any]:
    if not isinstance(value, list):
        yield value
        return
    for item in value:
        if isinstance(item, Mapping):
            yield from list_paths(item)
        else:
            yield item


def find_literal_directory(pattern: str) -> str | None:
    """Return the directory before a glob's first wildcard ("" is where it starts), or the glob itself when it
    has none. None when the rest may lead out of that directory."""
    segments = pattern.split("/")
    first_wildcard = next((i for i, segment in enumerate(segments) if _WILD.search(segment)), None)
    if first_wildcard is None:
        return pattern
    if _ESCAPING_WILDCARD.search("/".join(segments[first_wildcard:])):
        return None
    directory = "/".join(segments[:first_wildcard])
    return "/" if first_wildcard == 1 and not directory else directory


def list_wildcard_names(pattern: str) -> Iterator[str]:
    """Yield names that a wildcard may stand for, where nobody can list what it matches.

    They are the pattern as it is, because a line of `.intentignore` may match it literally (`.env*`), and
    the name that is left without its wildcards (`.en?v` is aimed at `.env`).
    """
    for text in dict.fromkeys((pattern, _WILD_CHARS.sub("", pattern))):
        segments = [segment for segment in text.split("/") if segment not in {"", "."}]
        if segments and all(map(_PLAIN_NAME.fullmatch, segments)):
            yield "/" * pattern.startswith("/") + "/".join(segments)


def get_first(data: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """Return the value of the first key that is present and not null, or None."""
    return next((data[key] for key in keys if data.get(key) is not None), None)


def get_all(data: Mapping[str, Any], keys: tuple[str, ...]) -> list[Any]:
    return [data[key] for key in keys if data.get(key) is not None]


def to_text_list(value: Any) -> list[str] | None:
    """Return a text, or a non-empty list of texts, as a list; None for anything else."""
    items = _to_list(value)
    return items if items and all(isinstance(item, str) for item in items) else None


def get_content(data: Mapping[str, Any]) -> str:
    """Return the text that a writing tool would store; what is no text, as JSON."""
    return to_text(get_first(data, CONTENT_KEYS))


def to_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
