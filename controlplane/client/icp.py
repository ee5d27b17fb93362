"""Connect a coding agent to the control plane's gate. Needs Python 3.9 or later, and nothing else.

    python3 icp.py connect AGENT --url https://icp.example.com [--token icp_…] [--wait SECONDS] [--no-mcp]
                                          [--dry-run]
    python3 icp.py disconnect AGENT [--dry-run]
    python3 icp.py doctor
    python3 icp.py reconcile [A..B | --base REF --head REF] [--intent ID] [--session ID] [--json] [--notes]
    python3 icp.py sync [--dir .orchestration] [--dry-run] [--prefer registry|folder]
    python3 icp.py hook AGENT EVENT       reads the hook's stdin; installed as ~/.config/icp/hook AGENT EVENT
    python3 icp.py hook mcp AGENT         the MCP server, for clients that start a program

Run it in the repository. The token is read from ICP_TOKEN or --token and stored, by repository, in
~/.config/icp/connections.json (0600). For a hook, ICP_URL and ICP_TOKEN together take precedence over that
file, and ICP_DEADLINE_SECONDS shortens its time limit. With --wait, a call that a person must approve is
held for that long, within the client's own time limit; else it is denied at once and may be sent again.
"""

from __future__ import annotations

import os
import sys

from controlplane.client.agents import CLIENTS
from controlplane.client.call_context import find_repository
from controlplane.client.commands.doctor import doctor, explain_distrust
from controlplane.client.commands.hook import hook
from controlplane.client.commands.mcp_bridge import serve_mcp
from controlplane.client.commands.reconcile import add_reconcile_arguments
from controlplane.client.commands.sync import add_sync_arguments
from controlplane.client.config.hook_entries import ForeignConfigError
from controlplane.client.config.install import (
    config_path,
    install_client,
    list_agents_without_server,
    list_installed_agents,
    plan_changes,
    print_diff,
    replace_file,
    save_connection,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def main(arguments: list[str]) -> int:
    if arguments[:1] != ["hook"]:
        return run_command(arguments)
    try:
        return serve_mcp(*arguments[2:]) if arguments[1:2] == ["mcp"] else hook(*arguments[1:])
    except Exception as error:  # noqa: BLE001  no failure may let the tool run
        sys.stderr.write(f"icp hook {' '.join(arguments[1:])}: {error!r}. So the tool must not run.\n")
        return 2


def run_command(arguments: list[str]) -> int:
    import argparse

    parser = argparse.ArgumentParser(
        "icp.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, run in (("connect", connect), ("disconnect", disconnect)):
        command = commands.add_parser(name)
        command.set_defaults(run=run)
        command.add_argument("agent", choices=sorted(CLIENTS))
        command.add_argument("--dry-run", action="store_true", help="show the changes without making them")
        if run is connect:
            command.add_argument("--url", required=True, help="the address of the control plane")
            command.add_argument("--wait", type=float, default=0, help="seconds to wait for a person (0)")
            command.add_argument("--no-mcp", action="store_true", help="do not change its MCP servers")
            command.add_argument("--token", default=os.environ.get("ICP_TOKEN"), help="default: ICP_TOKEN")
    add_reconcile_arguments(commands.add_parser("reconcile"))
    add_sync_arguments(commands.add_parser("sync"))
    commands.add_parser("doctor").set_defaults(run=doctor)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except OSError as error:
        print(error, file=sys.stderr)
        return 1


def connect(options: argparse.Namespace) -> int:
    if not options.token:
        print("Set ICP_TOKEN or --token to a token with the role agent.", file=sys.stderr)
        return 1
    root, agent = find_repository(os.getcwd()), options.agent
    if not apply_changes(root, agent, hooks=True, server=not options.no_mcp, dry_run=options.dry_run):
        return 1
    if not options.dry_run:
        install_client()
        connection = {"url": options.url.rstrip("/"), "token": options.token, "wait": options.wait}
        without_mcp = (
            {*list_agents_without_server(root), agent}
            if options.no_mcp
            else {*list_agents_without_server(root)} - {agent}
        )
        save_connection(root, {**connection, "without_mcp": sorted(without_mcp)})
        print(f"Connected {root}. Next: icp.py doctor\nKnown limits: {CLIENTS[agent].fails_open}")
        if problem := explain_distrust(root, agent, trust=True):
            print(f"NOT ENFORCED YET. {problem}", file=sys.stderr)
    return 0


def disconnect(options: argparse.Namespace) -> int:
    root = find_repository(os.getcwd())
    if not apply_changes(root, options.agent, hooks=False, server=False, dry_run=options.dry_run):
        return 1
    if not options.dry_run and not list_installed_agents(root):
        save_connection(root, None)
    return 0


def apply_changes(root: str, agent: str, *, hooks: bool, server: bool, dry_run: bool) -> bool:
    """Print the differences and write all files. Return False, writing none, if one cannot be changed."""
    try:
        planned = plan_changes(root, agent, hooks=hooks, server=server)
    except ForeignConfigError as problem:
        print(problem, file=sys.stderr)
        return False
    for name, text, requested in planned:
        print_diff(name, text, requested)
    for name, text, requested in () if dry_run else planned:
        replace_file(config_path(root, name), text, requested)
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
