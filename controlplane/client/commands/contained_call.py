"""Contained runs on the client's side: rewrite a call, run it, land what was approved, install the parts."""

from __future__ import annotations

import json
import os
import sys

from controlplane.client.config.config_files import write_file
from controlplane.client.connection import CONFIG_DIR, ControlPlaneError
from controlplane.client.containment_claim import STATE_FOLDER, TERMS_KEY
from controlplane.client.http_request import load_connection, request_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

RUNS_PROGRAM, LANDLOCK_PROGRAM = f"{CONFIG_DIR}/icp_runs.py", f"{CONFIG_DIR}/icp_landlock.py"
COMMAND_NAMES = ("command", "cmd")
MAX_WAITING = 5  # runs that one hook call asks about
DOWNLOAD_SECONDS = 20


def updated_input(event: str, tool_input: dict[str, Any]) -> dict[str, Any]:
    """Return the form of Claude Code, which Codex shares."""
    decision = {"permissionDecision": "allow", "updatedInput": tool_input}
    return {"hookSpecificOutput": {"hookEventName": event, **decision}}


def merged_input(_: str, tool_input: dict[str, Any]) -> dict[str, Any]:
    """Return the form of Gemini CLI."""
    return {"hookSpecificOutput": {"tool_input": tool_input}}


def modified_arguments(_: str, tool_input: dict[str, Any]) -> dict[str, Any]:
    """Return the form of Copilot CLI."""
    return {"permissionDecision": "allow", "modifiedArgs": tool_input}


def plugin_arguments(_: str, tool_input: dict[str, Any]) -> dict[str, Any]:
    """Return what the plug-ins of OpenCode and Kilo assign to the call."""
    return {"args": tool_input}


REWRITES = {
    "claude-code": updated_input,
    "codex": updated_input,
    "gemini-cli": merged_input,
    "copilot": modified_arguments,
    "opencode": plugin_arguments,
    "kilo": plugin_arguments,
}


def rewrite_call(
    agent: str, event: str, payload: dict[str, Any], answer: dict[str, Any], root: str
) -> dict[str, Any]:
    """Store the run that the answer allows and return the answer for the client.

    Raise ControlPlaneError where the call cannot be rewritten: then the tool must not run.
    """
    terms = answer[TERMS_KEY]
    tool_input = find_tool_input(payload)
    name = next((name for name in COMMAND_NAMES if isinstance(tool_input.get(name), str)), "")
    if not name or agent not in REWRITES:
        raise ControlPlaneError("The command may only run contained, and this call cannot be rewritten.")
    directory = tool_input.get("workdir") or tool_input.get("cwd") or payload.get("cwd") or root
    run = {
        "run_id": terms["run_id"],
        "session_id": str(terms["session_id"]),
        "root": root,
        "cwd": os.path.join(root, str(directory)),
        "shell": "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh",
        "command": tool_input[name],
        "landlock": LANDLOCK_PROGRAM,
        "containment": terms,
    }
    load_runs().save_run(run)
    program = f"{os.path.realpath(sys.executable)} -I -S {CONFIG_DIR}/icp.py run {terms['run_id']}"
    return REWRITES[agent](event, {**tool_input, name: program})


def find_tool_input(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the input of the tool, wherever the client puts it."""
    output = payload.get("output")
    inputs = [payload.get("tool_input"), payload.get("toolArgs")]
    inputs.append(output.get("args") if isinstance(output, dict) else None)
    if isinstance(inputs[1], str):  # Copilot encodes it
        inputs[1] = json.loads(inputs[1])
    return next((value for value in inputs if isinstance(value, dict)), {})


def land_held_runs(connection: dict[str, Any]) -> None:
    """Land what a person has approved since the last call in this repository."""
    runs, root = load_runs(), os.path.realpath(connection["root"])
    waiting = [
        run_id for run_id in sorted(os.listdir(f"{STATE_FOLDER}/held")) if runs.read_root(run_id) == root
    ]
    for run_id in waiting[:MAX_WAITING]:
        try:
            runs.land_run(run_id, make_sender(connection))
        except (ControlPlaneError, OSError, ValueError, KeyError) as problem:  # it waits on; the call goes on
            sys.stderr.write(f"icp: run {run_id} did not land: {problem}\n")


def load_runs() -> Any:
    """Import the program that contains commands. Raise ControlPlaneError where it was not installed."""
    if CONFIG_DIR not in sys.path:
        sys.path.insert(0, CONFIG_DIR)
    try:
        import icp_runs  # type: ignore[import-not-found]  # installed by `connect`
    except ImportError:
        raise ControlPlaneError(f"{RUNS_PROGRAM} is missing: run `icp.py connect` again.") from None
    return icp_runs


def make_sender(connection: dict[str, Any]) -> Any:
    """Return the function by which a run reaches the control plane."""

    def send(method: str, path: str, body: Any) -> dict[str, Any]:
        return request_json(connection, method, path, body)

    return send


def install_runs(url: str) -> str:
    """Download the parts for contained runs and try them out. Return why nothing can be contained, or ""."""
    import py_compile

    try:
        for path in (RUNS_PROGRAM, LANDLOCK_PROGRAM):
            write_file(path, download(f"{url}/client/{os.path.basename(path)}"), 0o600)
            py_compile.compile(path)
    except (OSError, ValueError) as problem:
        return f"the program for it could not be fetched ({problem})"
    return probe()


def probe() -> str:
    """Try containment again, for the hook to know. Return why it does not work here, or ""."""
    try:
        return str(load_runs().probe_containment(LANDLOCK_PROGRAM)["reason"])
    except ControlPlaneError as problem:
        return str(problem)


def download(url: str) -> str:
    import http.client
    from urllib.parse import urlsplit

    address = urlsplit(url)
    connection_class = (
        http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    )
    connection = connection_class(address.netloc, timeout=DOWNLOAD_SECONDS)
    connection.request("GET", address.path)
    response = connection.getresponse()
    if response.status != http.client.OK:
        raise OSError(f"{url} answered {response.status}")
    return str(response.read().decode())


def add_run_arguments(run: argparse.ArgumentParser, land: argparse.ArgumentParser) -> None:
    run.set_defaults(run=run_contained_command)
    run.add_argument("run_id", help="the run that the gate allowed; it starts once")
    land.set_defaults(run=land_held_changes)
    land.add_argument("run_id", help="the run whose held changes were approved")


def run_contained_command(options: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    return int(load_runs().run_by_id(options.run_id, make_sender(load_connection())))


def land_held_changes(options: argparse.Namespace) -> int:
    """Return 0 when nothing is left to wait for."""
    return int(load_runs().land_run(options.run_id, make_sender(load_connection())))
