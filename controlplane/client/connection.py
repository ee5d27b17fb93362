"""The saved connection of a repository, found from any place in it: a sub-directory, a linked work tree."""

from __future__ import annotations

import os

from controlplane.client.fast_json import parse_json
from controlplane.client.repository import find_main_repository, find_repository, list_parents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

CONFIG_DIR = os.path.join(os.path.expanduser("~"), ".config", "icp")
CONNECTIONS = f"{CONFIG_DIR}/connections.json"
ASK_MARK = f"{CONFIG_DIR}/asked"  # changed whenever the gate asks a person; the MCP server looks at it
PROGRAM = f"{CONFIG_DIR}/bin/icp.py"  # the whole client, as `connect` installs it
ROOT_VARIABLES = (
    "CLAUDE_PROJECT_DIR",
    "GEMINI_PROJECT_DIR",
    "QWEN_PROJECT_DIR",
    "COPILOT_PROJECT_DIR",
    "CURSOR_PROJECT_DIR",
)


class ControlPlaneError(Exception):
    """The control plane gave no usable answer; the message is written for a model."""


class NotConnectedError(ControlPlaneError):
    """No connection is saved for any place that the client named."""


def find_connection(
    payload: dict[str, Any], targets: Iterable[str] = (), also: Iterable[str] = ()
) -> dict[str, Any]:
    """Return `url`, `token` and `wait`, the `root` of the work tree and the main `repository`.

    The client's variables come before the payload's `cwd`, which an agent changes with `cd`: they choose the
    repository. Within it, the work tree is that of the `targets`, absolute paths of the call, else that of
    its `cwd`. `also` are the last places to look for a repository. Raise NotConnectedError.
    """
    roots = payload.get("workspace_roots") or payload.get("workspaceRoots") or []
    candidates = [os.environ.get(name) for name in ROOT_VARIABLES]
    candidates += [os.getcwd(), *roots[:1], payload.get("directory"), payload.get("cwd"), *also]
    places = [place for place in candidates if place and isinstance(place, str)]
    url, token = os.environ.get("ICP_URL"), os.environ.get("ICP_TOKEN")
    saved: dict[str, Any]
    if url and token:
        top = find_repository(places[0])
        saved = {find_main_repository(top): {"url": url.rstrip("/"), "token": token, "wait": 0}}
    else:
        saved = read_connections()
    for place in places:
        if located := locate_work_tree(place, saved):
            repository, root = located
            inner = choose_work_tree(repository, [payload.get("cwd")], saved) or root
            inner = choose_work_tree(repository, targets, saved) or inner
            return {**saved[repository], "root": inner, "repository": repository}
    raise NotConnectedError(f"No connection is saved for {os.getcwd()}: run `icp.py connect` there.")


def choose_work_tree(repository: str, places: Iterable[Any], saved: dict[str, Any]) -> str:
    """Return the one work tree of a repository that contains all the places; "" for none or several."""
    found = [locate_work_tree(place, saved) for place in places if place and isinstance(place, str)]
    roots = {located[1] for located in found if located and located[0] == repository}
    return roots.pop() if len(roots) == 1 else ""


def locate_work_tree(place: str, saved: dict[str, Any]) -> tuple[str, str] | None:
    """Return the saved repository that contains a place, and the top of the place's work tree."""
    for directory in list_parents(place):
        if os.path.realpath(directory) in saved:
            return os.path.realpath(directory), directory
        if os.path.isfile(f"{directory}/.git"):
            repository = find_main_repository(directory)
            if repository in saved:
                return repository, directory
    return None


def require_connections() -> None:
    """Raise ControlPlaneError without the file: it alone tells which repositories are connected."""
    if not os.path.exists(CONNECTIONS):
        raise ControlPlaneError(
            f"{CONNECTIONS} is gone: run `icp.py connect AGENT --user` again, or"
            " `icp.py disconnect AGENT --user`."
        )


def read_connections() -> dict[str, Any]:
    """Return the connections by main repository. Raise ValueError or OSError for an unreadable file."""
    try:
        with open(CONNECTIONS, "rb") as file:
            saved = parse_json(file.read())
    except FileNotFoundError:
        return {}
    if not isinstance(saved, dict):
        raise ValueError(f"{CONNECTIONS} contains no object: connect again")  # noqa: TRY004  as for broken JSON
    return saved
