"""What the hook tells beside the payload, found without starting git: repository, revision, hashes."""

from __future__ import annotations

import json
import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VERSION = "source"  # of the program as it is served: a digest of all of it
FOLDER = os.path.join(os.path.expanduser("~"), ".config", "icp")
CONNECTIONS = f"{FOLDER}/connections.json"
MAX_HASHED = 8 * 1024 * 1024  # bytes of a file that is hashed at a tool call
SMALL = 512 * 1024  # bytes
PATH_KEYS = frozenset(
    {
        "path", "file_path", "filePath", "filename", "file", "absolute_path", "target_file", "notebook_path",
        "source", "destination",
    }
)  # fmt: skip
PATCH_LINES = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")
COMMAND_KEYS = frozenset({"command", "cmd", "commands", "script", "command_line"})
BORDERS = "'\"`;|&<>()={}"
MAX_LOOKED_AT = 500  # words of one call
MAX_WORD_LENGTH = 1024  # characters
ROOT_VARIABLES = (
    "CLAUDE_PROJECT_DIR",
    "GEMINI_PROJECT_DIR",
    "QWEN_PROJECT_DIR",
    "COPILOT_PROJECT_DIR",
    "CURSOR_PROJECT_DIR",
)


class CannotAskError(Exception):
    """The gate gave no decision; the message says why, to a model."""


def connection(payload: dict[str, Any]) -> dict[str, Any]:
    """`url`, `token`, `wait` of the repository that the client works in; its `root` as the client spells it.

    What the client says of itself comes before the payload's `cwd`, which follows the agent around.
    """
    roots = payload.get("workspace_roots") or payload.get("workspaceRoots") or []
    places = [os.environ.get(name) for name in ROOT_VARIABLES]
    places += [os.getcwd(), *roots[:1], payload.get("directory"), payload.get("cwd")]
    url, token = os.environ.get("ICP_URL"), os.environ.get("ICP_TOKEN")
    if url and token:
        root = next(repository(place) for place in places if place)
        return {"url": url.rstrip("/"), "token": token, "wait": 0, "root": root}
    known = connections()
    for place in places:
        for folder in above(place) if isinstance(place, str) else ():
            if os.path.realpath(folder) in known:
                return {**known[os.path.realpath(folder)], "root": folder}
    raise CannotAskError(f"No connection is kept for {os.getcwd()}: run `icp.py connect` there.")


def repository(place: str) -> str:
    """The git repository that a folder is in, else the folder."""
    return next((one for one in above(place) if os.path.exists(f"{one}/.git")), os.path.abspath(place))


def above(place: str) -> list[str]:
    """The folder and all above it."""
    folders = [os.path.abspath(place)]
    while (parent := os.path.dirname(folders[-1])) != folders[-1]:
        folders.append(parent)
    return folders


def connections() -> dict[str, Any]:
    try:
        with open(CONNECTIONS, encoding="utf-8") as file:
            known: dict[str, Any] = json.load(file)
    except FileNotFoundError:
        return {}
    return known


def revision(root: str) -> str:
    """The commit that HEAD names, read from git's own files; "" before the first one or without git."""
    folder = f"{root}/.git"
    try:
        if os.path.isfile(folder):
            folder = os.path.join(root, line_of(folder)[len("gitdir: ") :])
        head = line_of(f"{folder}/HEAD")
        if not head.startswith("ref: "):
            return head
        name = head[len("ref: ") :]
        common = folder
        if os.path.isfile(f"{folder}/commondir"):
            common = os.path.join(folder, line_of(f"{folder}/commondir"))
        if os.path.isfile(f"{common}/{name}"):
            return line_of(f"{common}/{name}")
        with open(f"{common}/packed-refs", encoding="utf-8") as packed:
            return next((line.split()[0] for line in packed if line.rstrip().endswith(f" {name}")), "")
    except OSError:
        return ""


def line_of(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.readline().strip()


def hashes(payload: dict[str, Any], root: str) -> dict[str, str | None]:
    """`sha256:…` of each file that the payload names and that lies in the repository; None for no file."""
    base = payload.get("cwd")
    base = base if isinstance(base, str) else root
    found: dict[str, str | None] = {}
    top = os.path.realpath(root)
    for name in named(payload):
        path = os.path.realpath(os.path.join(base, name))
        if path.startswith(top + os.sep) and not os.path.isdir(path):
            found[os.path.relpath(path, top)] = hash_of(path)
    return {path: told for path, told in found.items() if told != ""}


def links(payload: dict[str, Any], root: str) -> dict[str, str]:
    """The paths that a call names, in fields or in a command, whose real place is another one: relative to
    the repository, absolute where they lead out of it. The server cannot follow the links of this machine."""
    base = payload.get("cwd")
    base = base if isinstance(base, str) else root
    found: dict[str, str] = {}
    spelled, top = os.path.abspath(root), os.path.realpath(root)
    for name in [*named(payload), *words(payload)][:MAX_LOOKED_AT]:
        path = os.path.abspath(os.path.join(base, name))
        real = os.path.realpath(os.path.join(base, name))
        inside = os.path.relpath(path, top if path.startswith(top + os.sep) else spelled)
        place = os.path.relpath(real, top) if f"{real}{os.sep}".startswith(top + os.sep) else real
        if not inside.startswith("..") and place != inside:
            found[inside] = place
    return found


def words(value: Any, key: str = "") -> list[str]:
    """The pieces of commands that may be paths."""
    if isinstance(value, dict):
        return [word for name, inner in value.items() for word in words(inner, name)]
    if isinstance(value, list):
        return [word for inner in value for word in words(inner, key)]
    if not isinstance(value, str) or "\0" in value or key not in COMMAND_KEYS:
        return []
    for border in BORDERS:
        value = value.replace(border, " ")
    return [word for word in value.split() if len(word) <= MAX_WORD_LENGTH]


def named(value: Any, key: str = "") -> list[str]:
    """The texts under the keys that hold paths, and the files of patches, wherever they stand."""
    if isinstance(value, dict):
        return [path for name, inner in value.items() for path in named(inner, name)]
    if isinstance(value, list):
        return [path for inner in value for path in named(inner, key)]
    if not isinstance(value, str) or "\0" in value:
        return []
    if "*** " in value:
        patch = [line for line in value.splitlines() if line.startswith(PATCH_LINES)]
        return [line.split(": ", 1)[1] for line in patch]
    return [value] if key in PATH_KEYS and value else []


def hash_of(path: str) -> str | None:
    """None where there is nothing, "" where it is not known: too large, unreadable, no ordinary file."""
    try:
        told = os.stat(path)
        if not stat.S_ISREG(told.st_mode) or told.st_size > MAX_HASHED:
            return ""
        with open(path, "rb") as file:
            return f"sha256:{sha256_of(file.read())}"
    except FileNotFoundError:
        return None
    except OSError:
        return ""


def sha256_of(data: bytes) -> str:
    """Hex digits. Small ones without OpenSSL, whose loading takes longer (3 ms) than they do."""
    try:
        if len(data) < SMALL:
            return str(
                __import__("_sha2" if sys.version_info >= (3, 12) else "_sha256").sha256(data).hexdigest()
            )
    except ImportError:
        pass  # another implementation of Python
    import hashlib

    return hashlib.sha256(data).hexdigest()
