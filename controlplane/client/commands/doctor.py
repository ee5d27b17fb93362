"""`icp.py doctor`: check that calls are denied when they must be, and that the MCP server answers."""

from __future__ import annotations

import json
import os

from controlplane.client.agents import CLIENTS, no_objection
from controlplane.client.commands.canaries import check_canaries, check_gate_canary
from controlplane.client.commands.contained_call import probe
from controlplane.client.commands.hook import USER_SCOPE
from controlplane.client.config.codex_trust import explain_codex_distrust
from controlplane.client.config.folder_trust import (
    TRUST_RULES,
    explain_copilot_distrust,
    explain_folder_distrust,
)
from controlplane.client.config.hook_entries import ForeignConfigError
from controlplane.client.config.install import (
    LAUNCHER,
    list_agents_without_server,
    list_installed_agents,
    plan_changes,
)
from controlplane.client.config.mcp_servers import bridge_command
from controlplane.client.connection import CONNECTIONS, ROOT_VARIABLES, read_connections
from controlplane.client.containment_claim import REWRITING_CLIENTS
from controlplane.client.fast_json import render_json
from controlplane.client.repository import find_main_repository, find_repository
from controlplane.client.write_limit import LIMIT_KEY, LIMITED_CLIENTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

MCP_SERVER_SECONDS = 30
MCP_INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "icp-doctor", "version": "1"},
}


def doctor(_: argparse.Namespace) -> int:
    """Print the checks. Return 1 if one fails."""
    root = find_repository(os.getcwd())
    entries = [(agent, "") for agent in list_installed_agents(root)]
    entries += [(agent, USER_SCOPE) for agent in list_installed_agents("", USER_SCOPE)]
    checks = [("an agent is connected here", "" if entries else explain_no_agent(root))]
    checks += [
        ("the tokens are yours alone", check_token_file()),
        ("the gate denies what it must", check_gate_canary(root)),
    ]
    for agent, scope in entries:
        name = f"{agent} (your own entry)" if scope else agent
        checks += [(f"{name}: {title}", problem) for title, problem in check_agent(root, agent, scope)]
    for title, problem in checks:
        print(f"{'FAIL' if problem else 'ok  '} {title}{': ' if problem else ''}{problem}")
    obstacle = probe()
    print(f"note commands are {'not contained: ' + obstacle if obstacle else 'contained'}")
    limits = isinstance(read_connections().get(find_main_repository(root), {}).get(LIMIT_KEY), list)
    where = (
        "in the repository, caches and /tmp only" if limits else "wherever you may (connect with --landlock)"
    )
    print(f"note commands that the gate allows as they are write {where}")
    for agent, scope in entries:
        if limits and agent not in LIMITED_CLIENTS:
            print(f"note {agent}: those of its commands write wherever you may: it reports no changed call")
        if not obstacle and agent not in REWRITING_CLIENTS:
            print(
                f"note {agent}: its own shell is not contained, since it runs no changed call: run_command is"
            )
        print(f"note {agent}: known limits: {CLIENTS[agent].fails_open}")
        if place := explain_place(root, agent, scope):
            print(f"note {agent}: {place}")
        if agent in list_agents_without_server(find_main_repository(root)):
            print(f"note {agent}: its MCP server is not managed (--no-mcp)")
    return 1 if any(problem for _, problem in checks) else 0


def explain_no_agent(root: str) -> str:
    repository = find_main_repository(root)
    if repository in read_connections() and repository != os.path.realpath(root):
        return (
            f"none: this work tree of {repository} holds no entries of its own. Connect with --user,"
            " or commit the entries"
        )
    return "none: icp.py connect AGENT --url …"


def check_agent(root: str, agent: str, scope: str) -> list[tuple[str, str]]:
    server = agent not in list_agents_without_server(find_main_repository(root))
    checks = [
        ("every entry is in place", check_entries(root, agent, scope, server=server)),
        *check_canaries(root, agent),
        ("without a server nothing runs", check_fails_closed(root, agent, scope)),
    ]
    if scope:
        checks.append(("it is quiet in other repositories", check_quiet(agent)))
    elif os.path.realpath(os.getcwd()) != os.path.realpath(root) and not CLIENTS[agent].climbs:
        checks.append(("it reads its entries in this directory", explain_place(root, agent, scope)))
    if server:
        checks.append(("its MCP server lists its tools", check_mcp_server(root, agent, scope)))
    problem = explain_distrust(root, agent, scope)
    return checks if problem is None else [*checks, ("it runs our hooks", problem)]


def explain_place(root: str, agent: str, scope: str) -> str:
    """Return where the client does not read its entries, "" if it reads them everywhere."""
    if scope or CLIENTS[agent].climbs:
        return ""
    return (
        f"started in a sub-directory, this client does not read {root}/{CLIENTS[agent].file} and runs every"
        " tool without asking the gate. Connect with --user to govern it in every place."
    )


def explain_distrust(root: str, agent: str, scope: str, *, trust: bool = False) -> str | None:
    """Return why the client would not run our hooks here, "" if it would, None if it cannot be known."""
    if agent == "copilot":
        return "" if scope else explain_copilot_distrust(root)
    if agent == "codex":
        return explain_codex_distrust(root, trust=trust)
    return explain_folder_distrust(agent, root) if agent in TRUST_RULES else None


def check_quiet(agent: str) -> str:
    """Run the installed hook in a directory of no repository: it must not object."""
    import subprocess
    import tempfile

    event = CLIENTS[agent].gates.split()[0]
    variables = {"ICP_URL", "ICP_TOKEN", *ROOT_VARIABLES}
    environment = {name: text for name, text in os.environ.items() if name not in variables}
    with tempfile.TemporaryDirectory() as directory:
        try:
            completed = subprocess.run(  # noqa: S603  our own launcher
                [LAUNCHER, agent, event, USER_SCOPE], input="{}", cwd=directory, env=environment,
                capture_output=True, text=True, check=False,
            )  # fmt: skip
        except OSError as error:
            return f"{LAUNCHER} cannot be run ({error.strerror})"
    is_quiet = (
        completed.returncode == 0 and completed.stdout == render_json(no_objection(agent, event)) + "\n"
    )
    return "" if is_quiet else f"it said {completed.stdout or completed.stderr!r}"


def check_token_file() -> str:
    if not os.path.exists(CONNECTIONS):
        return f"{CONNECTIONS} does not exist"
    mode = os.stat(CONNECTIONS).st_mode & 0o777
    return f"{CONNECTIONS} has mode {mode:o}, not 600" if mode & 0o077 else ""


def check_entries(root: str, agent: str, scope: str, *, server: bool) -> str:
    try:
        planned = plan_changes(root, agent, hooks=True, server=server, scope=scope)
    except (ForeignConfigError, OSError) as problem:
        return str(problem)
    outdated = [name for name, text, expected in planned if text != expected]
    return f"{', '.join(outdated)}: not what this version writes, connect again" if outdated else ""


def check_fails_closed(root: str, agent: str, scope: str) -> str:
    """Run the installed hook as the client does, with a URL where no server listens: it must deny."""
    import subprocess

    client = CLIENTS[agent]
    gate = client.gates.split()[0]
    environment = os.environ | {"ICP_URL": "http://127.0.0.1:9", "ICP_TOKEN": "icp_canary"}
    command = [LAUNCHER, agent, gate, *([scope] if scope else [])]
    try:
        completed = subprocess.run(  # noqa: S603  our own launcher
            command, input="{}", cwd=root, env=environment, capture_output=True, text=True, check=False
        )
    except OSError as error:
        return f"{LAUNCHER} cannot be run ({error.strerror})"
    is_refused = completed.returncode == client.status and "must not run" in completed.stdout
    return (
        ""
        if is_refused
        else f"{LAUNCHER} ended with {completed.returncode} and said {completed.stdout or completed.stderr!r}"
    )


def check_mcp_server(root: str, agent: str, scope: str) -> str:
    """Start the configured command as the client does, and list its tools.

    ICP_URL and ICP_TOKEN are removed, because a client may not pass them on.
    """
    import subprocess

    calls = [("initialize", MCP_INITIALIZE), ("tools/list", {})]
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params})
        for method, params in calls
    ]
    environment = {name: text for name, text in os.environ.items() if name not in {"ICP_URL", "ICP_TOKEN"}}
    try:
        completed = subprocess.run(  # noqa: S603  our own words
            bridge_command(agent, scope), input="\n".join(lines) + "\n", cwd=root, env=environment,
            capture_output=True, text=True, check=False, timeout=MCP_SERVER_SECONDS,
        )  # fmt: skip
        responses = {response["id"]: response for response in map(json.loads, completed.stdout.splitlines())}
        failed = [response["error"]["message"] for response in responses.values() if "error" in response]
        if failed:
            return str(failed[0])
        names = [tool["name"] for tool in responses["tools/list"]["result"]["tools"]]
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"it cannot be run ({error})"
    except (ValueError, LookupError, TypeError):
        output = completed.stdout[-200:] or completed.stderr[-200:]
        return f"it ended with {completed.returncode} and said {output!r}"
    return "" if "select_active_intent" in names else f"it offers no handshake, only {', '.join(names)}"
