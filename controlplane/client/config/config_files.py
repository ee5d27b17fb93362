"""Read, back up and write the clients' configuration files, in the repository and in the user's home."""

from __future__ import annotations

import os
import time

from controlplane.client.config.atomic_write import read_mode, write_atomically
from controlplane.client.connection import CONFIG_DIR

# A client's own variable that names its directory in another place.
HOME_VARIABLES = {
    "~/.claude/": "CLAUDE_CONFIG_DIR",
    "~/.codex/": "CODEX_HOME",
    "~/.config/": "XDG_CONFIG_HOME",
}
OUR_DIRECTORIES = frozenset({"hooks", "plugins"})  # of the user's, that hold nothing but such entries


def config_path(root: str, name: str) -> str:
    """Return the path of a file that is named by its repository, or from the home as `~/…`."""
    if not name.startswith("~/"):
        return f"{root}/{name}"
    for prefix, variable in HOME_VARIABLES.items():
        if name.startswith(prefix) and os.environ.get(variable):
            return os.path.join(os.environ[variable], name[len(prefix) :])
    if name == "~/.claude.json" and os.environ.get("CLAUDE_CONFIG_DIR"):
        return os.path.join(os.environ["CLAUDE_CONFIG_DIR"], ".claude.json")
    return os.path.expanduser(name)


def print_diff(name: str, text: str, new_text: str) -> None:
    import difflib

    sides = text.splitlines(), new_text.splitlines()
    for line in difflib.unified_diff(*sides, fromfile=name, tofile=name, lineterm=""):
        print(line)


def replace_file(root: str, name: str, text: str, new_text: str) -> None:
    """Back up the file and write its new text; remove it if the new text is empty."""
    if new_text == text:
        return
    path = config_path(root, name)
    if text:
        back_up(path, text)
    if new_text:
        write_file(path, new_text, 0o644)
    else:
        os.remove(path)
        remove_empty_directories(root, name)


def remove_empty_directories(root: str, name: str) -> None:
    """Remove the directories that our file was the last in; in the home only those for such files."""
    while name := os.path.dirname(name):
        if name.startswith("~") and os.path.basename(name) not in OUR_DIRECTORIES:
            return
        try:
            os.rmdir(config_path(root, name))
        except OSError:
            return


def read_text(path: str) -> str:
    """Return the text with its line endings; "" for a missing file. Raise OSError for other encodings."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except ValueError as error:
        raise OSError(f"{path} is not UTF-8. Correct the file first.") from error


def back_up(path: str, text: str) -> None:
    name = path.strip("/").replace("/", "_")
    backup = f"{CONFIG_DIR}/backups/{time.strftime('%Y%m%dT%H%M%S')}-{name}"
    write_file(backup, text, 0o600)
    print(f"Backup: {backup}")


def write_file(path: str, text: str, mode: int) -> None:
    """Write atomically, to where a symlink leads. An existing file keeps its mode."""
    path = os.path.realpath(path)
    os.makedirs(os.path.dirname(path), mode=0o700 if path.startswith(CONFIG_DIR) else 0o777, exist_ok=True)
    write_atomically(path, text.encode(), read_mode(path, mode) if mode == 0o644 else mode)
