"""Contained runs on the client's side: rewrite a call, run it, land what was approved, install the parts."""

from __future__ import annotations

import os
import sys

from controlplane.client.call_rewrite import REWRITES, find_command_name, find_shell, find_tool_input
from controlplane.client.config.config_files import write_file
from controlplane.client.connection import CONFIG_DIR, ControlPlaneError
from controlplane.client.containment_claim import TERMS_KEY
from controlplane.client.stored_run import (
    LANDLOCK_PROGRAM,
    RUNS_PROGRAM,
    load_runs,
    make_run_sender,
    make_sender,
    require_own_home,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

SESSION_KEYS = ("session_id", "sessionId", "sessionID")  # as the clients spell it
MAX_WAITING = 5  # runs that one hook call asks about
DOWNLOAD_SECONDS = 20


def rewrite_call(
    agent: str, event: str, payload: dict[str, Any], answer: dict[str, Any], connection: dict[str, Any]
) -> dict[str, Any]:
    """Store the run that the answer allows and return the answer for the client.

    Raise ControlPlaneError where the call cannot be rewritten: then the tool must not run.
    """
    terms, root = answer[TERMS_KEY], connection["root"]
    tool_input = find_tool_input(payload)
    name = find_command_name(tool_input)
    if not name or agent not in REWRITES:
        raise ControlPlaneError("The command may only run contained, and this call cannot be rewritten.")
    directory = tool_input.get("workdir") or tool_input.get("cwd") or payload.get("cwd") or root
    run = build_run(terms, tool_input[name], os.path.join(root, str(directory)), connection)
    store_run({**run, "caller": find_caller(payload)})
    return REWRITES[agent](event, {**tool_input, name: render_program(terms["run_id"])})


def build_run(
    terms: dict[str, Any], command: str, directory: str, connection: dict[str, Any]
) -> dict[str, Any]:
    """Return a run as it is stored: what the gate has allowed, and which control plane said so."""
    return {
        "run_id": terms["run_id"],
        "session_id": str(terms["session_id"]),
        "root": connection["root"],
        "repository": connection["repository"],
        "url": connection["url"],
        "cwd": directory,
        "shell": find_shell(),
        "command": command,
        "landlock": LANDLOCK_PROGRAM,
        "containment": terms,
    }


def store_run(run: dict[str, Any]) -> None:
    """Store a run for `icp.py run`. Raise ControlPlaneError where the same call has started it before."""
    runs = load_runs()
    try:
        runs.save_run(run)
    except runs.RunStateError as problem:
        raise ControlPlaneError(str(problem)) from None


def render_program(run_id: str) -> str:
    """Return the command line that runs a stored run. It names no text of an agent."""
    import shlex

    return shlex.join([os.path.realpath(sys.executable), "-I", "-S", f"{CONFIG_DIR}/icp.py", "run", run_id])


def is_stored_run(payload: dict[str, Any], root: str) -> bool:
    """Return whether a call is the changed call of this conversation, whose command the gate has allowed.

    Clients that run several hooks, or ask again for a changed call, send it to the hook a second time.
    """
    tool_input = find_tool_input(payload)
    command = tool_input.get(find_command_name(tool_input), "")
    run_id = command.rpartition(" ")[2]
    if command != render_program(run_id):
        return False
    try:
        run = load_runs().read_run(run_id)
    except (OSError, ValueError):
        return False
    is_own = run["caller"] == find_caller(payload) and os.path.realpath(root) == os.path.realpath(run["root"])
    return bool(is_own)


def find_caller(payload: dict[str, Any]) -> str:
    """Return the client's own id of the conversation; "" where it sends none."""
    given = payload.get("input")
    places = [payload, given if isinstance(given, dict) else {}]
    return next((str(place[key]) for place in places for key in SESSION_KEYS if place.get(key)), "")


def land_held_runs(connection: dict[str, Any]) -> None:
    """Land what a person has approved since the last call in this repository."""
    runs, root = load_runs(), os.path.realpath(connection["root"])
    waiting = [run_id for run_id in runs.list_waiting_runs() if runs.read_root(run_id) == root]
    for run_id in waiting[:MAX_WAITING]:
        try:
            runs.land_run(run_id, make_sender(connection))
        except (ControlPlaneError, OSError, ValueError, KeyError) as problem:  # it waits on; the call goes on
            sys.stderr.write(f"icp: run {run_id} did not land: {problem}\n")


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


def add_land_arguments(land: argparse.ArgumentParser) -> None:
    land.set_defaults(run=land_held_changes)
    land.add_argument("run_id", help="the run whose held changes were approved")


def land_held_changes(options: argparse.Namespace) -> int:
    """Return 0 when nothing is left to wait for."""
    require_own_home()
    return int(load_runs().land_run(options.run_id, make_run_sender(options.run_id)))
