"""Limit where an allowed command can write, by Landlock: a second wall for what was judged by its text.

Where a person connects with --landlock, each shell command that the gate allows as it is becomes
`icp_landlock.py DIRECTORIES -- SHELL -c COMMAND`. What the client reports afterwards is read as the command.
"""

from __future__ import annotations

import os
import sys

from controlplane.client.call_rewrite import REWRITES, find_command_name, find_shell, find_tool_input
from controlplane.client.stored_run import LANDLOCK_PROGRAM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LIMIT_KEY = "landlock"  # of a connection: the directories outside of the repository
# Clients that report the call as it ran, under the key by which they ask about it.
LIMITED_CLIENTS = frozenset({"claude-code", "codex", "gemini-cli", "cursor"})
TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm", "/dev/pts")  # noqa: S108  nothing is made in them here


def quote(text: str) -> str:
    """Return one word of a shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def render_limited(command: str, connection: dict[str, Any]) -> str:
    """Return the command line under which a command writes only in the repository and the directories."""
    python, shell = os.path.realpath(sys.executable), find_shell()
    directories = [*TEMPORARY, *connection[LIMIT_KEY], connection["repository"], connection["root"]]
    words = [python, "-I", "-S", LANDLOCK_PROGRAM, *directories, "--", shell, "-c", command]
    return " ".join(map(quote, words))


def limit_call(
    agent: str, event: str, payload: dict[str, Any], answer: dict[str, Any], connection: dict[str, Any]
) -> dict[str, Any]:
    """Return the answer that changes an allowed command; the given one for any other call."""
    tool_input = find_tool_input(payload)
    name = find_command_name(tool_input)
    if not name or agent not in LIMITED_CLIENTS or not isinstance(connection.get(LIMIT_KEY), list):
        return answer
    limited = render_limited(tool_input[name], connection)
    return {**answer, **REWRITES[agent](event, {**tool_input, name: limited})}


def find_limited(payload: dict[str, Any], connection: dict[str, Any]) -> bool:
    """Put the command back in the place of its limited form; return whether it was one."""
    tool_input = find_tool_input(payload)
    name = find_command_name(tool_input)
    mark = f"{quote(LANDLOCK_PROGRAM)} "
    if not isinstance(connection.get(LIMIT_KEY), list) or mark not in tool_input.get(name, ""):
        return False
    import shlex

    try:
        command = shlex.split(tool_input[name])[-1]
    except ValueError:
        return False
    if render_limited(command, connection) != tool_input[name]:
        return False
    tool_input[name] = command
    return True
