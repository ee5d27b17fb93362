"""Change a client's files: print the difference, back up, write atomically."""

from __future__ import annotations

import json
import os
import sys
import time

from controlplane.client.agents import CLIENTS
from controlplane.client.call_context import CONFIG_DIR, CONNECTIONS, read_connections
from controlplane.client.config.atomic_write import read_mode, write_atomically
from controlplane.client.config.hook_entries import MARK, configure_hooks
from controlplane.client.config.mcp_servers import SERVERS, configure_server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LAUNCHER = f"{CONFIG_DIR}/hook"
LAUNCH = """#!{python} -IS
# Made by `icp.py connect`. Imported rather than run, so that Python keeps the compiled form.
import sys
sys.path.insert(0, {folder!r})
import icp
sys.exit(icp.main(["hook", *sys.argv[1:]]))
"""


def plan_changes(root: str, agent: str, *, hooks: bool, server: bool) -> list[tuple[str, str, str]]:
    """Return (name, current text, new text) of each file of the client. Writes nothing.

    Raise ForeignConfigError for a file that cannot be changed. An MCP server for all repositories stays while
    another repository needs it.
    """
    name, server_name = CLIENTS[agent].file, find_server_file(root, agent)
    current = {file: read_text(config_path(root, file)) for file in (name, server_name)}
    new = current | {name: configure_hooks(agent, current[name], connected=hooks)}
    if server or not (server_name.startswith("~/") and is_used_elsewhere(root, agent)):
        new[server_name] = configure_server(agent, server_name, new[server_name], connected=server)
    return [(file, current[file], new[file]) for file in new]


def find_server_file(root: str, agent: str) -> str:
    names: list[str] = SERVERS[agent].files.split()
    return next((name for name in names if os.path.exists(config_path(root, name))), names[0])


def config_path(root: str, name: str) -> str:
    return os.path.expanduser(name) if name.startswith("~/") else f"{root}/{name}"


def print_diff(name: str, text: str, new_text: str) -> None:
    import difflib

    sides = text.splitlines(), new_text.splitlines()
    for line in difflib.unified_diff(*sides, fromfile=name, tofile=name, lineterm=""):
        print(line)


def replace_file(path: str, text: str, new_text: str) -> None:
    """Back up the file and write its new text; remove it if the new text is empty."""
    if new_text == text:
        return
    if text:
        back_up(path, text)
    if new_text:
        write_file(path, new_text, 0o644)
    else:
        os.remove(path)


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


def install_client() -> None:
    """Install this file and its launcher; compiled, so that the first tool call is not slower."""
    import py_compile

    write_file(f"{CONFIG_DIR}/icp.py", read_text(__file__), 0o600)
    py_compile.compile(f"{CONFIG_DIR}/icp.py")
    write_file(LAUNCHER, LAUNCH.format(python=os.path.realpath(sys.executable), folder=CONFIG_DIR), 0o700)


def save_connection(root: str, connection: dict[str, Any] | None) -> None:
    saved = {path: other for path, other in read_connections().items() if path != root}
    if connection:
        saved[root] = connection
    write_file(CONNECTIONS, json.dumps(saved, indent=2) + "\n", 0o600)


def list_agents_without_server(root: str) -> list[str]:
    """Return the agents that were connected with --no-mcp."""
    return list(read_connections().get(root, {}).get("without_mcp", []))


def list_installed_agents(root: str) -> list[str]:
    """Return the agents whose configuration contains any of our hooks."""
    return [agent for agent, client in CLIENTS.items() if has_hooks(root, agent)]


def has_hooks(root: str, agent: str) -> bool:
    """Return whether a client's file mentions our hook; `doctor` reports missing ones."""
    return MARK in read_text(f"{root}/{CLIENTS[agent].file}")


def is_used_elsewhere(root: str, agent: str) -> bool:
    """Return whether another repository is connected for this agent."""
    return any(place != root and has_hooks(place, agent) for place in read_connections())
