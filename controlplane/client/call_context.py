"""What the hook adds to a payload about the files that a call names: content hashes and links."""

from __future__ import annotations

import os
import stat

from controlplane.client.digest import sha256_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VERSION = "source"  # the served file has a digest of itself here
MAX_HASHED = 8 * 1024 * 1024  # bytes of a file; larger ones are not hashed
PATH_KEYS = frozenset(
    {
        "path", "file_path", "filePath", "filename", "file", "absolute_path", "target_file", "notebook_path",
        "source", "destination",
    }
)  # fmt: skip
PATCH_LINES = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")
COMMAND_KEYS = frozenset({"command", "cmd", "commands", "script", "command_line"})
SHELL_DELIMITERS = "'\"`;|&<>()={}"
MAX_NAMES = 500  # paths of one call
MAX_WORD_LENGTH = 1024  # characters


def compute_hashes(payload: dict[str, Any], root: str) -> dict[str, str | None]:
    """Return `sha256:…` of each file of the repository that the payload names; None for a missing file."""
    base = payload.get("cwd")
    base = base if isinstance(base, str) else root
    hashes_by_path: dict[str, str | None] = {}
    top = os.path.realpath(root)
    for name in list_named_paths(payload):
        path = os.path.realpath(os.path.join(base, name))
        if path.startswith(top + os.sep) and not os.path.isdir(path):
            hashes_by_path[os.path.relpath(path, top)] = hash_file(path)
    return {path: digest for path, digest in hashes_by_path.items() if digest != ""}


def resolve_links(payload: dict[str, Any], root: str) -> dict[str, str]:
    """Return the real path of each path that a call names through symlinks, which the server cannot follow.

    Real paths are relative to the repository, absolute outside of it.
    """
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


def list_absolute_paths(payload: dict[str, Any]) -> list[str]:
    """Return the absolute paths in the path fields of a call."""
    return [name for name in list_named_paths(payload)[:MAX_NAMES] if os.path.isabs(name)]


def list_absolute_words(payload: dict[str, Any]) -> list[str]:
    """Return the words of a call's commands that are absolute paths."""
    return [word for word in list_command_words(payload)[:MAX_NAMES] if os.path.isabs(word)]


def list_command_words(value: Any, key: str = "") -> list[str]:
    """Return the words of commands in a payload, any of which may be a path."""
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
    """Return the values of path keys and the files of patches, at any depth."""
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
    """Return a file's hash; None for a missing file, "" for a large, unreadable or special one."""
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
