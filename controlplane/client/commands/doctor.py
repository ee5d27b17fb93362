"""`icp.py doctor`: proves that enforcement is alive, and that the MCP server answers as it is configured."""

from __future__ import annotations

import json
import os

from controlplane.client.agents import CLIENTS
from controlplane.client.call_context import CONNECTIONS, repository
from controlplane.client.commands.canaries import canaries, undenied
from controlplane.client.config.codex_trust import untrusted
from controlplane.client.config.folder_trust import TRUSTING, distrusted
from controlplane.client.config.hook_entries import NotOursError
from controlplane.client.config.install import LAUNCHER, changes, installed_in, without_server
from controlplane.client.config.mcp_servers import bridge_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

SERVER_ANSWERS_SECONDS = 30
HANDSHAKE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "icp-doctor", "version": "1"},
}


def doctor(_: argparse.Namespace) -> int:
    """Exit status 1 where a check fails."""
    root = repository(os.getcwd())
    agents = installed_in(root)
    checks = [("an agent is connected here", "" if agents else "none is: icp.py connect AGENT --url …")]
    checks += [("the tokens are yours alone", exposed()), ("the gate denies what it must", undenied(root))]
    for agent in agents:
        checks += [(f"{agent}: {title}", problem) for title, problem in examined(root, agent)]
    for title, problem in checks:
        print(f"{'FAIL' if problem else 'ok  '} {title}{': ' if problem else ''}{problem}")
    for agent in agents:
        print(f"note {agent}: what stays open: {CLIENTS[agent].fails_open}")
        if agent in without_server(root):
            print(f"note {agent}: its MCP server is left to you (--no-mcp)")
    return 1 if any(problem for _, problem in checks) else 0


def examined(root: str, agent: str) -> list[tuple[str, str]]:
    server = agent not in without_server(root)
    checks = [
        ("every entry is in place", incomplete(root, agent, server=server)),
        *canaries(root, agent),
        ("without a server nothing runs", open_without_server(root, agent)),
    ]
    if server:
        checks.append(("its MCP server lists its tools", unserved(root, agent)))
    problem = untrusting(root, agent)
    return checks if problem is None else [*checks, ("it runs our hooks", problem)]


def untrusting(root: str, agent: str, *, trust: bool = False) -> str | None:
    """Why the client would not run our hooks in this folder, "" when it would, None where nobody can tell."""
    if agent == "codex":
        return untrusted(root, trust=trust)
    return distrusted(agent, root) if agent in TRUSTING else None


def exposed() -> str:
    if not os.path.exists(CONNECTIONS):
        return f"{CONNECTIONS} does not exist"
    mode = os.stat(CONNECTIONS).st_mode & 0o777
    return f"{CONNECTIONS} has mode {mode:o}, not 600" if mode & 0o077 else ""


def incomplete(root: str, agent: str, *, server: bool) -> str:
    try:
        found = changes(root, agent, hooks=True, server=server)
    except (NotOursError, OSError) as problem:
        return str(problem)
    differing = [name for name, text, wanted in found if text != wanted]
    return f"{', '.join(differing)}: not what this version writes, connect again" if differing else ""


def open_without_server(root: str, agent: str) -> str:
    """The installed hook itself, run as the client runs it, with an address where nobody listens."""
    import subprocess

    client = CLIENTS[agent]
    gate = client.gates.split()[0]
    dead = os.environ | {"ICP_URL": "http://127.0.0.1:9", "ICP_TOKEN": "icp_canary"}
    command = [LAUNCHER, agent, gate]
    try:
        done = subprocess.run(  # noqa: S603  our own launcher
            command, input="{}", cwd=root, env=dead, capture_output=True, text=True, check=False
        )
    except OSError as error:
        return f"{LAUNCHER} cannot be run ({error.strerror})"
    refused = done.returncode == client.status and "must not run" in done.stdout
    return (
        "" if refused else f"{LAUNCHER} ended with {done.returncode} and said {done.stdout or done.stderr!r}"
    )


def unserved(root: str, agent: str) -> str:
    """The configured command itself, started as the client starts it: the handshake and the list of tools.

    Without ICP_URL and ICP_TOKEN, which a client need not hand on.
    """
    import subprocess

    asked = [("initialize", HANDSHAKE), ("tools/list", {})]
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params})
        for method, params in asked
    ]
    env = {name: text for name, text in os.environ.items() if name not in {"ICP_URL", "ICP_TOKEN"}}
    try:
        done = subprocess.run(  # noqa: S603  our own words
            bridge_words(agent), input="\n".join(lines) + "\n", cwd=root, env=env,
            capture_output=True, text=True, check=False, timeout=SERVER_ANSWERS_SECONDS,
        )  # fmt: skip
        told = {one["id"]: one for one in map(json.loads, done.stdout.splitlines())}
        failed = [one["error"]["message"] for one in told.values() if "error" in one]
        if failed:
            return str(failed[0])
        names = [tool["name"] for tool in told["tools/list"]["result"]["tools"]]
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"it cannot be run ({error})"
    except (ValueError, LookupError, TypeError):
        return f"it ended with {done.returncode} and said {done.stdout[-200:] or done.stderr[-200:]!r}"
    return "" if "select_active_intent" in names else f"it offers no handshake, only {', '.join(names)}"
