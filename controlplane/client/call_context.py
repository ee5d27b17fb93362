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
CONFIG_DIR = os.path.join(os.path.expanduser("~"), ".config", "icp")
CONNECTIONS = f"{CONFIG_DIR}/connections.json"
MAX_HASHED = 8 * 1024 * 1024  # bytes of a file that is hashed at a tool call
MAX_WITHOUT_OPENSSL = 512 * 1024  # bytes
PATH_KEYS = frozenset(
    {
        "path", "file_path", "filePath", "filename", "file", "absolute_path", "target_file", "notebook_path",
        "source", "destination",
    }
)  # fmt: skip
PATCH_LINES = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")
COMMAND_KEYS = frozenset({"command", "cmd", "commands", "script", "command_line"})
SHELL_DELIMITERS = "'\"`;|&<>()={}"
MAX_NAMES = 500  # words of one call
MAX_WORD_LENGTH = 1024  # characters
ROOT_VARIABLES = (
    "CLAUDE_PROJECT_DIR",
    "GEMINI_PROJECT_DIR",
    "QWEN_PROJECT_DIR",
    "COPILOT_PROJECT_DIR",
    "CURSOR_PROJECT_DIR",
)


class ControlPlaneError(Exception):
    """The gate gave no decision; the message says why, to a model."""


def find_connection(payload: dict[str, Any]) -> dict[str, Any]:
    """`url`, `token`, `wait` of the repository that the client works in; its `root` as the client spells it.

    What the client says of itself comes before the payload's `cwd`, which follows the agent around.
    """
    roots = payload.get("workspace_roots") or payload.get("workspaceRoots") or []
    candidates = [os.environ.get(name) for name in ROOT_VARIABLES]
    candidates += [os.getcwd(), *roots[:1], payload.get("directory"), payload.get("cwd")]
    url, token = os.environ.get("ICP_URL"), os.environ.get("ICP_TOKEN")
    if url and token:
        root = next(find_repository(place) for place in candidates if place)
        return {"url": url.rstrip("/"), "token": token, "wait": 0, "root": root}
    saved = read_connections()
    for place in candidates:
        for folder in list_parents(place) if isinstance(place, str) else ():
            if os.path.realpath(folder) in saved:
                return {**saved[os.path.realpath(folder)], "root": folder}
    raise ControlPlaneError(f"No connection is kept for {os.getcwd()}: run `icp.py connect` there.")


def find_repository(path: str) -> str:
    """The git repository that a folder is in, else the folder."""
    return next((one for one in list_parents(path) if os.path.exists(f"{one}/.git")), os.path.abspath(path))


def list_parents(path: str) -> list[str]:
    """The folder and all above it."""
    directories = [os.path.abspath(path)]
    while (parent := os.path.dirname(directories[-1])) != directories[-1]:
        directories.append(parent)
    return directories


def read_connections() -> dict[str, Any]:
    try:
        with open(CONNECTIONS, encoding="utf-8") as file:
            saved: dict[str, Any] = json.load(file)
    except FileNotFoundError:
        return {}
    return saved


def read_revision(root: str) -> str:
    """The commit that HEAD names, read from git's own files; "" before the first one or without git."""
    git_dir = f"{root}/.git"
    try:
        if os.path.isfile(git_dir):
            git_dir = os.path.join(root, read_first_line(git_dir)[len("gitdir: ") :])
        head = read_first_line(f"{git_dir}/HEAD")
        if not head.startswith("ref: "):
            return head
        name = head[len("ref: ") :]
        common = git_dir
        if os.path.isfile(f"{git_dir}/commondir"):
            common = os.path.join(git_dir, read_first_line(f"{git_dir}/commondir"))
        if os.path.isfile(f"{common}/{name}"):
            return read_first_line(f"{common}/{name}")
        with open(f"{common}/packed-refs", encoding="utf-8") as packed:
            return next((line.split()[0] for line in packed if line.rstrip().endswith(f" {name}")), "")
    except OSError:
        return ""


def read_first_line(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.readline().strip()


def compute_hashes(payload: dict[str, Any], root: str) -> dict[str, str | None]:
    """`sha256:…` of each file that the payload names and that lies in the repository; None for no file."""
    base = payload.get("cwd")
    base = base if isinstance(base, str) else root
    hashes_by_path: dict[str, str | None] = {}
    top = os.path.realpath(root)
    for name in list_named_paths(payload):
        path = os.path.realpath(os.path.join(base, name))
        if path.startswith(top + os.sep) and not os.path.isdir(path):
            hashes_by_path[os.path.relpath(path, top)] = hash_file(path)
    return {path: told for path, told in hashes_by_path.items() if told != ""}


def resolve_links(payload: dict[str, Any], root: str) -> dict[str, str]:
    """The paths that a call names, in fields or in a command, whose real place is another one: relative to
    the repository, absolute where they lead out of it. The server cannot follow the links of this machine."""
    base = payload.get("cwd")
    base = base if isinstance(base, str) else root
    links_by_path: dict[str, str] = {}
    given_root, real_root = os.path.abspath(root), os.path.realpath(root)
    for name in [*list_named_paths(payload), *list_command_words(payload)][:MAX_NAMES]:
        path = os.path.abspath(os.path.join(base, name))
        real = os.path.realpath(os.path.join(base, name))
        relative = os.path.relpath(path, real_root if path.startswith(real_root + os.sep) else given_root)
        target = (
            os.path.relpath(real, real_root) if f"{real}{os.sep}".startswith(real_root + os.sep) else real
        )
        if not relative.startswith("..") and target != relative:
            links_by_path[relative] = target
    return links_by_path


def list_command_words(value: Any, key: str = "") -> list[str]:
    """The pieces of commands that may be paths."""
    if isinstance(value, dict):
        return [word for name, inner in value.items() for word in list_command_words(inner, name)]
    if isinstance(value, list):
        return [word for inner in value for word in list_command_words(inner, key)]
    if not isinstance(value, str) or "\0" in value or key not in COMMAND_KEYS:
        return []
    for border in SHELL_DELIMITERS:
        value = value.replace(border, " ")
    return [word for word in value.split() if len(word) <= MAX_WORD_LENGTH]


def list_named_paths(value: Any, key: str = "") -> list[str]:
    """The texts under the keys that hold paths, and the files of patches, wherever they stand."""
    if isinstance(value, dict):
        return [path for name, inner in value.items() for path in list_named_paths(inner, name)]
    if isinstance(value, list):
        return [path for inner in value for path in list_named_paths(inner, key)]
    if not isinstance(value, str) or "\0" in value:
        return []
    if "*** " in value:
        patch = [line for line in value.splitlines() if line.startswith(PATCH_LINES)]
        return [line.split(": ", 1)[1] for line in patch]
    return [value] if key in PATH_KEYS and value else []


def hash_file(path: str) -> str | None:
    """None where there is nothing, "" where it is not known: too large, unreadable, no ordinary file."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_HASHED:
            return ""
        with open(path, "rb") as file:
            return f"sha256:{sha256_hex(file.read())}"
    except FileNotFoundError:
        return None
    except OSError:
        return ""


def sha256_hex(data: bytes) -> str:
    """Hex digits. Small ones without OpenSSL, whose loading takes longer (3 ms) than they do."""
    try:
        if len(data) < MAX_WITHOUT_OPENSSL:
            return str(
                __import__("_sha2" if sys.version_info >= (3, 12) else "_sha256").sha256(data).hexdigest()
            )
    except ImportError:
        pass  # another implementation of Python
    import hashlib

    return hashlib.sha256(data).hexdigest()
