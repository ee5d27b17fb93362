"""Connect a coding agent to the control plane's gate. Needs Python 3.9 or later, and nothing else.

    python3 icp.py connect AGENT --url https://icp.example.com [--token icp_…] [--wait SECONDS] [--no-mcp]
                                          [--user] [--landlock] [--dry-run]
    python3 icp.py disconnect AGENT [--user] [--dry-run]
    python3 icp.py doctor
    python3 icp.py reconcile [A..B | --base REF --head REF] [--intent ID] [--session ID] [--json] [--verify]
    python3 icp.py witness                asks for a proof that the ledger continues the head kept here
    python3 icp.py sync [--dir .orchestration] [--dry-run] [--prefer registry|folder]
    python3 icp.py acp -- AGENT …         what an editor starts instead of the agent, by ACP
    python3 icp.py wait APPROVAL          waits until a person has decided, and says how
    python3 icp.py tools AGENT [SERVER…]  asks its MCP servers once which tools only read
    python3 icp.py run -- COMMAND         asks the gate, then runs the command contained
    python3 icp.py run RUN_ID             the same for a run that is allowed: what a hook writes instead of it
    python3 icp.py land RUN_ID            lands what a person has approved of it
    python3 icp.py hook AGENT EVENT       reads the hook's stdin; installed as ~/.config/icp/hook AGENT EVENT
    python3 icp.py hook mcp AGENT         the MCP server, for clients that start a program

Run it in the repository. With --user the entry goes into your own settings and serves all repositories: it
is quiet in those that are not connected. The token is read from ICP_TOKEN or --token and stored, by
repository, in ~/.config/icp/connections.json (0600). For a hook, ICP_URL and ICP_TOKEN together take
precedence over that file, and ICP_DEADLINE_SECONDS shortens its time limit. With --wait, a call that a person
must approve is held for that long, within the client's own time limit; else it is denied at once and may be
sent again.
"""

from __future__ import annotations

import sys

from controlplane.client.acp.command import add_acp_arguments
from controlplane.client.commands.connect import add_connect_arguments, add_disconnect_arguments
from controlplane.client.commands.contained_call import add_land_arguments
from controlplane.client.commands.doctor import doctor
from controlplane.client.commands.hook import run_hook
from controlplane.client.commands.mcp_bridge import serve_mcp
from controlplane.client.commands.reconcile import add_reconcile_arguments
from controlplane.client.commands.run_command import SEPARATOR, add_run_arguments
from controlplane.client.commands.server_tools import add_tools_arguments
from controlplane.client.commands.sync import add_sync_arguments
from controlplane.client.commands.wait import add_wait_arguments
from controlplane.client.connection import ControlPlaneError
from controlplane.client.head_witness import add_witness_arguments


def main(arguments: list[str]) -> int:
    if arguments[:1] != ["hook"]:
        return run_command(arguments)
    if arguments[1:2] != ["mcp"]:
        return run_hook(arguments[1:])
    try:
        return serve_mcp(*arguments[2:])
    except Exception as error:  # noqa: BLE001  a client shows the last line of a server that ends
        sys.stderr.write(f"icp hook {' '.join(arguments[1:])}: {error!r}.\n")
        return 2


def run_command(arguments: list[str]) -> int:
    import argparse

    parser = argparse.ArgumentParser(
        "icp.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_connect_arguments(commands.add_parser("connect"))
    add_disconnect_arguments(commands.add_parser("disconnect"))
    add_reconcile_arguments(commands.add_parser("reconcile"))
    add_witness_arguments(commands.add_parser("witness"))
    add_sync_arguments(commands.add_parser("sync"))
    add_tools_arguments(commands.add_parser("tools"))
    add_run_arguments(commands.add_parser("run"))
    add_land_arguments(commands.add_parser("land"))
    add_wait_arguments(commands.add_parser("wait"))
    add_acp_arguments(commands.add_parser("acp"))
    commands.add_parser("doctor").set_defaults(run=doctor)
    own, words = arguments, []
    if arguments[:1] == ["run"] and SEPARATOR in arguments:
        end = arguments.index(SEPARATOR)
        own, words = arguments[:end], arguments[end + 1 :]
    options = parser.parse_args(own, argparse.Namespace(words=words))
    try:
        return int(options.run(options))
    except (OSError, ControlPlaneError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
