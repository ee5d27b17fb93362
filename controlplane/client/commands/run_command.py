"""Run a command by the gate's leave: `icp.py run -- COMMAND`, and the MCP tool `run_command`.

Both ask the control plane's MCP tool, which knows whose session is meant, and run what it allows: contained,
or as it is where the command only reads.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

from controlplane.client.call_rewrite import find_command_name, find_shell, find_tool_input
from controlplane.client.commands.contained_call import (
    build_run,
    is_stored_run,
    render_program,
    store_run,
)
from controlplane.client.connection import ControlPlaneError, find_connection, read_connections
from controlplane.client.containment_claim import read_containment
from controlplane.client.http_post import post
from controlplane.client.stored_run import NOT_STARTED, require_own_home, run_stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

RUN_TOOL = "run_command"
COMMAND_SECONDS = 60.0
MAX_OUTPUT = 100_000  # characters that a model gets of what a command printed
SEPARATOR = "--"
# What a shell takes as it stands: single quotes around anything, and no sign that means something else.
PLAIN_WORDS = re.compile(r"(?:'[^']*'|[\w@%+=:,./ -])*")


def call_tool(
    connection: dict[str, Any], name: str, arguments: dict[str, Any], headers: dict[str, str] | None = None
) -> str:
    """Call a tool of the control plane's MCP server and return its text. Raise ControlPlaneError."""
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments},
    }
    lines = {"Accept": "application/json", "X-ICP-Client": describe_client(connection), **(headers or {})}
    head = "".join(f"{key}: {text}\r\n" for key, text in lines.items())
    answer = post(
        f"{connection['url']}/mcp", connection["token"], json.dumps(message).encode(), COMMAND_SECONDS, head
    )
    result = answer[0].get("result") or {"isError": True, "content": [answer[0].get("error") or {}]}
    content = result["content"][0]
    text = str(content.get("text") or content.get("message") or "The control plane gave no answer.")
    if result.get("isError"):
        raise ControlPlaneError(text)
    return text


def describe_client(connection: dict[str, Any]) -> str:
    """Return the header in which this program says on which terms it can run a command."""
    client = {"root": connection["root"], "repository": connection["repository"]}
    containment = read_containment()
    return json.dumps({**client, "containment": containment} if containment else client)


def prepare_command(connection: dict[str, Any], terms: str, command: str, directory: str) -> str:
    """Store the run of an allowed command and return its id; "" for a command that runs as it is."""
    answer = json.loads(terms)
    if not answer["containment"]:
        return ""
    allowed = {**answer["containment"], "session_id": answer["session_id"]}
    store_run({**build_run(allowed, command, directory, connection), "caller": ""})
    return str(allowed["run_id"])


def run_for_model(connection: dict[str, Any], terms: str, arguments: dict[str, Any]) -> str:
    """Run what the gate has allowed and return what the model reads: the output and the exit status."""
    import shlex

    command = arguments["command"]
    directory = os.path.join(connection["root"], arguments.get("cwd") or "")
    run_id = prepare_command(connection, terms, command, directory)
    words = shlex.split(render_program(run_id)) if run_id else [find_shell(), "-c", command]
    done = subprocess.run(  # noqa: S603  the gate has allowed it
        words,
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    output = done.stdout.decode(errors="replace")
    if len(output) > MAX_OUTPUT:
        output = f"[{len(output) - MAX_OUTPUT} characters left out]\n{output[-MAX_OUTPUT:]}"
    return f"{output}\nexit status {done.returncode}".lstrip()


def run_for_person(options: argparse.Namespace) -> int:
    """Ask the gate, run the command here, and return its exit status."""
    command = options.words[0] if len(options.words) == 1 else join_words(options.words)
    session = {"session_id": options.session} if options.session else {}
    require_own_home()
    connection = find_saved_connection()
    if options.intent:
        call_tool(connection, "select_active_intent", {"intent_id": options.intent, **session})
    arguments = {"command": command, "cwd": os.getcwd(), **session}
    run_id = prepare_command(connection, call_tool(connection, RUN_TOOL, arguments), command, os.getcwd())
    if run_id:
        return run_stored(run_id)
    return subprocess.call([find_shell(), "-c", command])  # noqa: S603  the gate has allowed it


def find_saved_connection() -> dict[str, Any]:
    """Return the connection of this repository as it is saved: the environment may come from an agent."""
    connection = find_connection({})
    return {**connection, **read_connections().get(connection["repository"], {})}


def join_words(words: list[str]) -> str:
    import shlex

    return shlex.join(words)


def is_own_call(payload: dict[str, Any], root: str) -> bool:
    """Return whether a call runs this very program to run a command, which asks for itself.

    A stored run was allowed before. `run -- COMMAND` asks for the command, and only where the shell that runs
    the call changes nothing of it.
    """
    tool_input = find_tool_input(payload)
    command = tool_input.get(find_command_name(tool_input), "")
    start = f"{render_program(SEPARATOR)} "
    is_asking = command.startswith(start) and PLAIN_WORDS.fullmatch(command[len(start) :])
    return bool(is_asking) or is_stored_run(payload, root)


def add_run_arguments(run: argparse.ArgumentParser) -> None:
    run.set_defaults(run=run_command_line)
    run.add_argument("run_id", nargs="?", help="a run that the gate allowed; it starts once")
    run.add_argument("--intent", metavar="ID", help="take this intent first")
    run.add_argument("--session", metavar="ID", help="the session to run it in, where several are open")
    run.epilog = "run [--intent ID] [--session ID] -- COMMAND asks the gate and runs the command contained."


def run_command_line(options: argparse.Namespace) -> int:
    try:
        return run_for_person(options) if options.words else run_stored(options.run_id or "")
    except ControlPlaneError as problem:
        sys.stderr.write(f"icp: Nothing was run. {problem}\n")
        return NOT_STARTED
