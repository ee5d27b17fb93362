"""`icp.py tools AGENT [SERVER…]`: ask the agent's MCP servers once which tools they have, and report them.

A server is started as the agent would start it, from the same configuration, and ended again. Only what it
lists goes to the control plane: names, and whether a tool says that it only reads.
"""

from __future__ import annotations

import json
import os

from controlplane.client.config.config_files import config_path
from controlplane.client.config.hook_entries import read_document
from controlplane.client.config.mcp_servers import NAME, SERVERS, find_server_file
from controlplane.client.connection import ControlPlaneError
from controlplane.client.http_request import load_connection, request_json
from controlplane.client.repository import find_repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

LIST_SECONDS = 30
MAX_PAGES = 20
MAX_LISTED_TOOLS = 500
LIST_PROTOCOL = "2025-06-18"


def add_tools_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", choices=sorted(SERVERS))
    parser.add_argument("servers", nargs="*", metavar="SERVER", help="Default: all that it starts itself.")
    parser.add_argument("--dry-run", action="store_true", help="Print the lists and send nothing.")
    parser.set_defaults(run=report_server_tools)


def report_server_tools(options: argparse.Namespace) -> int:
    """List and report the tools of each server. Return 1 if one does not answer."""
    root, failed = find_repository(os.getcwd()), False
    configured = read_configured_servers(root, options.agent)
    for name in options.servers or sorted(configured):
        command = build_server_command(configured.get(name))
        if not command:
            print(f"skip {name}: {options.agent} starts no program for it")
            continue
        try:
            tools = list_server_tools(command, configured[name].get("env"), root)
        except (OSError, ValueError) as error:
            print(f"FAIL {name}: it did not list its tools ({error})")
            failed = True
            continue
        reading = sum((tool.get("annotations") or {}).get("readOnlyHint") is True for tool in tools)
        added = "" if options.dry_run else f", {send_server_tools(name, tools)} new"
        print(f"ok   {name}: {len(tools)} tools, {reading} say that they only read{added}")
    return 1 if failed else 0


def read_configured_servers(root: str, agent: str) -> dict[str, Any]:
    """Return the servers of the repository's and the user's own configuration, ours left out."""
    server, servers = SERVERS[agent], {}
    for scope in ("user", ""):
        name = find_server_file(root, agent, scope)
        try:
            with open(config_path(root, name), encoding="utf-8") as file:
                text = file.read()
            document = read_document(agent, name, text) if server.key else read_toml(text)
        except (OSError, ValueError, ControlPlaneError):
            continue
        found = document.get(server.key or "mcp_servers")
        servers.update(found if isinstance(found, dict) else {})
    return {name: entry for name, entry in servers.items() if isinstance(entry, dict) and name != NAME}


def read_toml(text: str) -> dict[str, Any]:
    try:
        import tomllib
    except ImportError:  # before Python 3.11
        return {}
    return tomllib.loads(text)


def build_server_command(entry: Any) -> list[str]:
    """Return the words that start a server; empty where the agent starts no program for it."""
    command = entry.get("command") if isinstance(entry, dict) else None
    words = command if isinstance(command, list) else [command, *(entry.get("args") or ())] if command else []
    return words if all(isinstance(word, str) for word in words) else []


def list_server_tools(words: list[str], env: Any, root: str) -> list[dict[str, Any]]:
    """Start a server, ask for its tools and end it. Raise OSError or ValueError."""
    import subprocess
    import threading

    extra = {str(key): str(text) for key, text in env.items()} if isinstance(env, dict) else {}
    process = subprocess.Popen(  # noqa: S603  what the agent itself starts
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=root,
        env={**os.environ, **extra},
    )
    timer = threading.Timer(LIST_SECONDS, process.kill)
    timer.start()
    try:
        return ask_for_tools(process)
    finally:
        timer.cancel()
        process.kill()
        process.wait()


def ask_for_tools(process: Any) -> list[dict[str, Any]]:
    """Initialize, then read every page of `tools/list`."""
    hello = {
        "protocolVersion": LIST_PROTOCOL,
        "capabilities": {},
        "clientInfo": {"name": "icp-tools", "version": "1"},
    }
    exchange(process, 1, "initialize", hello)
    write_line(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    tools: list[dict[str, Any]] = []
    cursor: Any = None
    for number in range(2, MAX_PAGES + 2):
        result = exchange(process, number, "tools/list", {"cursor": cursor} if cursor else {})
        tools += [tool for tool in result.get("tools", ()) if isinstance(tool, dict) and tool.get("name")]
        cursor = result.get("nextCursor")
        if not cursor or len(tools) >= MAX_LISTED_TOOLS:
            break
    return tools[:MAX_LISTED_TOOLS]


def exchange(process: Any, number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    write_line(process, {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    while line := process.stdout.readline():
        message = json.loads(line)
        if isinstance(message, dict) and message.get("id") == number:
            result = message.get("result")
            if not isinstance(result, dict):
                raise ValueError(f"{method}: {str(message.get('error'))[:200]}")
            return result
    raise ValueError(f"it ended before it answered {method}")


def write_line(process: Any, message: dict[str, Any]) -> None:
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()


def send_server_tools(server: str, tools: list[dict[str, Any]]) -> int:
    """Report a list and return how many tools were new. Raise ControlPlaneError."""
    listed = [
        {
            "name": str(tool["name"])[:200],
            "annotations": {"readOnlyHint": (tool.get("annotations") or {}).get("readOnlyHint")},
        }
        for tool in tools
    ]
    body = {"server": server[:100], "tools": listed}
    return int(request_json(load_connection(), "POST", "mcp-tools", body)["added"])
