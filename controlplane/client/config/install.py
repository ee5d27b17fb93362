"""Plan the changes of a client's files, install the program, save connections."""

from __future__ import annotations

import json
import os
import shutil
import sys

from controlplane.client.agents import CLIENTS
from controlplane.client.commands.hook import USER_SCOPE
from controlplane.client.config.config_files import config_path, read_text, write_file
from controlplane.client.config.hook_entries import MARK, configure_hooks, hook_file
from controlplane.client.config.mcp_servers import configure_server, find_server_file
from controlplane.client.connection import CONFIG_DIR, CONNECTIONS, PROGRAM, read_connections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HOOK_END = (
    "# === What follows is not needed by a hook"  # in the served file; before it stands the hook's part
)
LAUNCHER = f"{CONFIG_DIR}/hook"
LAUNCH = """#!{python} -IS
# Made by `icp.py connect`. Imported rather than run, so that Python keeps the compiled form.
import sys
sys.path.insert(0, {folder!r})
import icp_hook
sys.exit(icp_hook.main([{word}*sys.argv[1:]]))
"""
# The end of the installed `icp_hook.py`, which holds the hook alone, so that it loads in a moment.
HOOK_MAIN = """

def main(arguments):
    if arguments[:1] == ["hook"] and arguments[1:2] != ["mcp"]:
        return run_hook(arguments[1:])
    if arguments[:1] == ["run"] and len(arguments) == 2:
        return run_stored(arguments[1])
    import icp_program
    return icp_program.main(arguments)
"""


def plan_changes(
    root: str, agent: str, *, hooks: bool, server: bool, scope: str = ""
) -> list[tuple[str, str, str]]:
    """Return (name, current text, new text) of each file of the client. Writes nothing.

    Raise ForeignConfigError for a file that cannot be changed. An MCP server for all repositories stays while
    another entry needs it.
    """
    name, server_name = hook_file(agent, scope), find_server_file(root, agent, scope)
    current = {file: read_text(config_path(root, file)) for file in (name, server_name)}
    new = current | {name: configure_hooks(agent, current[name], connected=hooks, scope=scope)}
    if server or not (server_name.startswith("~/") and is_used_elsewhere(root, agent, scope)):
        new[server_name] = configure_server(
            agent, server_name, new[server_name], connected=server, scope=scope
        )
    return [(file, current[file], new[file]) for file in new]


def install_client() -> None:
    """Install the program, its part for hooks and what starts them; compiled: the first call counts too."""
    import py_compile

    text = read_text(__file__)
    hook_part = text.partition(f"\n{HOOK_END}\n")[0] + HOOK_MAIN
    for name, source in (("icp_program.py", text), ("icp_hook.py", hook_part)):
        write_file(f"{CONFIG_DIR}/{name}", source, 0o600)
        py_compile.compile(f"{CONFIG_DIR}/{name}")
    python = os.path.realpath(sys.executable)
    for path, word, mode in (
        (f"{CONFIG_DIR}/icp.py", "", 0o600),
        (PROGRAM, "", 0o700),
        (LAUNCHER, '"hook", ', 0o700),
    ):
        write_file(path, LAUNCH.format(python=python, folder=CONFIG_DIR, word=word), mode)


def remove_client() -> None:
    """Remove all that `connect` put below ~/.config/icp, its backups too."""
    shutil.rmtree(CONFIG_DIR, ignore_errors=True)


def save_connection(repository: str, connection: dict[str, Any] | None) -> None:
    saved = {path: other for path, other in read_connections().items() if path != repository}
    if connection:
        saved[repository] = connection
    save_connections(saved)


def save_connections(saved: dict[str, Any]) -> None:
    write_file(CONNECTIONS, json.dumps(saved, indent=2) + "\n", 0o600)


def list_agents_without_server(repository: str) -> list[str]:
    """Return the agents that were connected with --no-mcp."""
    return list(read_connections().get(repository, {}).get("without_mcp", []))


def list_installed_agents(root: str, scope: str = "") -> list[str]:
    """Return the agents whose configuration contains any of our hooks."""
    return [agent for agent in CLIENTS if has_hooks(root, agent, scope)]


def has_hooks(root: str, agent: str, scope: str = "") -> bool:
    """Return whether a client's file mentions our hook; `doctor` reports missing ones."""
    return MARK in read_text(config_path(root, hook_file(agent, scope)))


def is_used_elsewhere(root: str, agent: str, scope: str) -> bool:
    """Return whether this agent is connected by another entry than the one of this repository and scope."""
    if scope != USER_SCOPE and has_hooks("", agent, USER_SCOPE):
        return True
    own = "" if scope == USER_SCOPE else root
    return any(place != own and has_hooks(place, agent) for place in read_connections())
