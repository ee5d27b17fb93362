"""The files that connecting changes: each shown, kept as it was, and written whole."""

from __future__ import annotations

import json
import os
import sys
import time

from controlplane.client.agents import CLIENTS
from controlplane.client.call_context import CONNECTIONS, FOLDER, connections
from controlplane.client.config.atomic_write import mode_of, write_whole
from controlplane.client.config.hook_entries import MARK, configured
from controlplane.client.config.mcp_servers import SERVERS, with_server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LAUNCHER = f"{FOLDER}/hook"
LAUNCH = """#!{python} -IS
# Made by `icp.py connect`. Imported rather than run, so that Python keeps the compiled form.
import sys
sys.path.insert(0, {folder!r})
import icp
sys.exit(icp.main(["hook", *sys.argv[1:]]))
"""


def changes(root: str, agent: str, *, hooks: bool, server: bool) -> list[tuple[str, str, str]]:
    """(name as it is shown, text, text that it shall have) of each file of the client; nothing is written.

    NotOursError where one cannot be changed. A server for all repositories stays while another needs it.
    """
    name, server_name = CLIENTS[agent].file, server_file(root, agent)
    texts = {one: text_of(place_of(root, one)) for one in (name, server_name)}
    wanted = texts | {name: configured(agent, texts[name], connected=hooks)}
    if server or not (server_name.startswith("~/") and used_elsewhere(root, agent)):
        wanted[server_name] = with_server(agent, server_name, wanted[server_name], connected=server)
    return [(one, texts[one], wanted[one]) for one in wanted]


def server_file(root: str, agent: str) -> str:
    names: list[str] = SERVERS[agent].files.split()
    return next((name for name in names if os.path.exists(place_of(root, name))), names[0])


def place_of(root: str, name: str) -> str:
    return os.path.expanduser(name) if name.startswith("~/") else f"{root}/{name}"


def show(name: str, text: str, wanted: str) -> None:
    import difflib

    sides = text.splitlines(), wanted.splitlines()
    for line in difflib.unified_diff(*sides, fromfile=name, tofile=name, lineterm=""):
        print(line)


def replace(path: str, text: str, wanted: str) -> None:
    """The old text by the new one, after a copy of it; a file for which nothing is left goes."""
    if wanted == text:
        return
    if text:
        back_up(path, text)
    if wanted:
        write(path, wanted, 0o644)
    else:
        os.remove(path)


def text_of(path: str) -> str:
    """With its own line ends; "" for no file."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except ValueError as error:
        raise OSError(f"{path} is no text in UTF-8: put it right first.") from error


def back_up(path: str, text: str) -> None:
    name = path.strip("/").replace("/", "_")
    kept = f"{FOLDER}/backups/{time.strftime('%Y%m%dT%H%M%S')}-{name}"
    write(kept, text, 0o600)
    print(f"The old text is kept as {kept}")


def write(path: str, text: str, mode: int) -> None:
    """Whole or not at all; through a symlink, to where it leads. An existing file keeps its own mode."""
    path = os.path.realpath(path)
    os.makedirs(os.path.dirname(path), mode=0o700 if path.startswith(FOLDER) else 0o777, exist_ok=True)
    write_whole(path, text.encode(), mode_of(path, mode) if mode == 0o644 else mode)


def install() -> None:
    """This very file and its launcher, beside the tokens; compiled, so that the first call is no slower."""
    import py_compile

    write(f"{FOLDER}/icp.py", text_of(__file__), 0o600)
    py_compile.compile(f"{FOLDER}/icp.py")
    write(LAUNCHER, LAUNCH.format(python=os.path.realpath(sys.executable), folder=FOLDER), 0o700)


def remember(root: str, connection: dict[str, Any] | None) -> None:
    known = {place: told for place, told in connections().items() if place != root}
    if connection:
        known[root] = connection
    write(CONNECTIONS, json.dumps(known, indent=2) + "\n", 0o600)


def without_server(root: str) -> list[str]:
    """The agents that were connected with --no-mcp."""
    return list(connections().get(root, {}).get("without_mcp", []))


def installed_in(root: str) -> list[str]:
    """The agents whose configuration holds hooks of ours, all of them or some."""
    return [agent for agent, client in CLIENTS.items() if has_hooks(root, agent)]


def has_hooks(root: str, agent: str) -> bool:
    """Some of them: a file that holds the server too, and no hook any more, says so in `doctor`."""
    return MARK in text_of(f"{root}/{CLIENTS[agent].file}")


def used_elsewhere(root: str, agent: str) -> bool:
    """Whether another repository is connected for this agent."""
    return any(place != root and has_hooks(place, agent) for place in connections())
