"""`icp.py connect` and `icp.py disconnect`: a client's entries, in a repository or in the user's settings."""

from __future__ import annotations

import os
import sys

from controlplane.client.agents import CLIENTS
from controlplane.client.commands.contained_call import install_runs
from controlplane.client.commands.doctor import explain_distrust, explain_place
from controlplane.client.commands.hook import USER_SCOPE
from controlplane.client.config.codex_trust import forget_codex_trust
from controlplane.client.config.config_files import config_path, print_diff, replace_file
from controlplane.client.config.hook_entries import ForeignConfigError
from controlplane.client.config.install import (
    has_hooks,
    install_client,
    list_agents_without_server,
    list_installed_agents,
    plan_changes,
    remove_client,
    save_connection,
    save_connections,
)
from controlplane.client.connection import CONFIG_DIR, read_connections
from controlplane.client.repository import find_main_repository, find_repository
from controlplane.client.stored_run import load_runs
from controlplane.client.write_limit import LIMIT_KEY

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

Plan = list[tuple[str, str, str]]


def add_connect_arguments(command: argparse.ArgumentParser) -> None:
    add_common_arguments(command)
    command.set_defaults(run=connect)
    command.add_argument("--url", required=True, help="the address of the control plane")
    command.add_argument("--wait", type=float, default=0, help="seconds to wait for a person (0)")
    command.add_argument("--no-mcp", action="store_true", help="do not change its MCP servers")
    command.add_argument(
        "--landlock",
        action="store_true",
        help="let allowed commands write in repository, caches and /tmp only",
    )
    command.add_argument("--token", default=os.environ.get("ICP_TOKEN"), help="default: ICP_TOKEN")


def add_disconnect_arguments(command: argparse.ArgumentParser) -> None:
    add_common_arguments(command)
    command.set_defaults(run=disconnect)


def add_common_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("agent", choices=sorted(CLIENTS))
    command.add_argument("--dry-run", action="store_true", help="show the changes without making them")
    command.add_argument("--user", action="store_true", help="in your own settings, for all repositories")


def connect(options: argparse.Namespace) -> int:
    if not options.token:
        print("Set ICP_TOKEN or --token to a token with the role agent.", file=sys.stderr)
        return 1
    root, agent = find_repository(os.getcwd()), options.agent
    repository, scope = find_main_repository(root), USER_SCOPE if options.user else ""
    has_user_entry = not scope and has_hooks("", agent, USER_SCOPE)
    planned: Plan = []
    try:
        if scope and has_hooks(root, agent):  # two entries would ask twice
            planned += plan_changes(root, agent, hooks=False, server=False)
        if not has_user_entry:
            planned += plan_changes(root, agent, hooks=True, server=not options.no_mcp, scope=scope)
    except ForeignConfigError as problem:
        print(problem, file=sys.stderr)
        return 1
    apply_changes(root, planned, dry_run=options.dry_run)
    if options.dry_run:
        return 0
    install_client()
    if obstacle := install_runs(options.url.rstrip("/")):
        print(f"Note: commands run uncontained, so the gate asks about more of them: {obstacle}.")
    connect_repository(repository, options)
    where = f"{root} (by your own entry, which serves all repositories)" if has_user_entry else root
    print(f"Connected {where}. Next: icp.py doctor\nKnown limits: {CLIENTS[agent].fails_open}")
    scope = USER_SCOPE if has_user_entry else scope
    if note := explain_place(root, agent, scope):
        print(f"Note: {note}")
    if distrust := explain_distrust(root, agent, scope, trust=True):
        print(f"NOT ENFORCED YET. {distrust}", file=sys.stderr)
    return 0


def connect_repository(repository: str, options: argparse.Namespace) -> None:
    """Save the connection, and say which one it replaces."""
    connection: dict[str, Any] = {
        "url": options.url.rstrip("/"),
        "token": options.token,
        "wait": options.wait,
        **({LIMIT_KEY: list_caches()} if options.landlock else {}),
    }
    others = {*list_agents_without_server(repository)} - {options.agent}
    without_mcp = {*others, options.agent} if options.no_mcp else others
    previous = read_connections().get(repository)
    if previous and (previous["url"], previous["token"]) != (connection["url"], connection["token"]):
        print(
            f"Replaced: all agents of {repository} asked {previous['url']} with another token"
            f" ({shorten(previous['token'])}) before, which may be of another workspace."
        )
    save_connection(repository, {**connection, "without_mcp": sorted(without_mcp)})


def list_caches() -> list[str]:
    """Return the caches that are here, in which a limited command may write."""
    home = os.path.expanduser("~")
    return [path for name in load_runs().CACHE_FOLDERS if os.path.isdir(path := f"{home}/{name}")]


def shorten(token: str) -> str:
    return f"{token[:8]}…"


def disconnect(options: argparse.Namespace) -> int:
    root, scope = find_repository(os.getcwd()), USER_SCOPE if options.user else ""
    try:
        planned = plan_changes(root, options.agent, hooks=False, server=False, scope=scope)
    except ForeignConfigError as problem:
        print(problem, file=sys.stderr)
        return 1
    apply_changes(root, planned, dry_run=options.dry_run)
    if options.dry_run:
        return 0
    if options.agent == "codex":
        forget_codex_trust(config_path(root, planned[0][0]))
    forget_connections(root, scope)
    return 0


def forget_connections(root: str, scope: str) -> None:
    """Drop the tokens that no entry needs any more, and the program with the last of them."""
    saved, user_agents = read_connections(), list_installed_agents("", USER_SCOPE)
    if scope:
        saved = {
            place: connection
            for place, connection in saved.items()
            if user_agents or list_installed_agents(place)
        }
    elif not list_installed_agents(root) and saved.pop(find_main_repository(root), None) and user_agents:
        print(
            f"{root} is not connected any more: your own entries ({', '.join(user_agents)}) are quiet here."
        )
    if saved or user_agents:
        save_connections(saved)
    elif os.path.exists(CONFIG_DIR):
        remove_client()


def apply_changes(root: str, planned: Plan, *, dry_run: bool) -> None:
    for name, text, requested in planned:
        print_diff(name, text, requested)
    for name, text, requested in () if dry_run else planned:
        replace_file(root, name, text, requested)
