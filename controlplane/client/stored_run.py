"""Run what the gate has allowed and a hook has stored, and reach the control plane that allowed it.

It stands in the hook's part of the program: `icp.py run ID` starts with every contained command.
"""

from __future__ import annotations

import os
import sys

from controlplane.client.connection import CONFIG_DIR, ControlPlaneError, read_connections
from controlplane.client.fast_json import render_json
from controlplane.client.http_post import post

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RUNS_PROGRAM, LANDLOCK_PROGRAM = f"{CONFIG_DIR}/icp_runs.py", f"{CONFIG_DIR}/icp_landlock.py"
REPORT_SECONDS = 120.0
NOT_STARTED = 126  # exit status


def run_stored(run_id: str) -> int:
    """Run a stored run and return the command's exit status."""
    try:
        require_own_home()
        return int(load_runs().run_by_id(run_id, make_run_sender(run_id)))
    except ControlPlaneError as problem:
        sys.stderr.write(f"icp: Nothing was run. {problem}\n")
        return NOT_STARTED


def require_own_home() -> None:
    """Raise ControlPlaneError where the installed program runs under another HOME.

    Whoever sets that variable chooses the files that say what may run, who allows it and what lands.
    """
    directory, name = os.path.split(os.path.abspath(__file__))
    if name in {"icp_hook.py", "icp_program.py"} and directory != CONFIG_DIR:
        raise ControlPlaneError(f"This program belongs to another home than {CONFIG_DIR}: was HOME changed?")


def load_runs() -> Any:
    """Import the program that contains commands. Raise ControlPlaneError where it was not installed."""
    if CONFIG_DIR not in sys.path:
        sys.path.insert(0, CONFIG_DIR)
    try:
        import icp_runs  # type: ignore[import-not-found]  # installed by `connect`
    except ImportError:
        raise ControlPlaneError(f"{RUNS_PROGRAM} is missing: run `icp.py connect` again.") from None
    return icp_runs


def make_run_sender(run_id: str) -> Any:
    """Return the function by which a stored run reaches the control plane that allowed it, and no other."""

    def send(method: str, path: str, body: Any) -> dict[str, Any]:
        connection = find_run_connection(load_runs().read_run(run_id))
        return dict(make_sender(connection)(method, path, body))

    return send


def make_sender(connection: dict[str, Any]) -> Any:
    """Return the function by which a run reaches a control plane: it only posts."""

    def send(_: str, path: str, body: Any) -> dict[str, Any]:
        url, data = f"{connection['url']}/api/v1/{path}", render_json(body).encode()
        return post(url, connection["token"], data, REPORT_SECONDS)[0]

    return send


def find_run_connection(run: dict[str, Any]) -> dict[str, Any]:
    """Return the connection of the run. The environment comes from the agent: it may not name another."""
    saved = read_connections().get(run["repository"])
    if saved and saved["url"] == run["url"]:
        return dict(saved)
    url, token = os.environ.get("ICP_URL", "").rstrip("/"), os.environ.get("ICP_TOKEN")
    if url == run["url"] and token:
        return {"url": url, "token": token}
    raise ControlPlaneError(f"{run['repository']} is not connected to {run['url']} any more.")
