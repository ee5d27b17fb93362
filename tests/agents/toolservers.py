"""The MCP server `icp` in each agent's own configuration, as docs/mcp.md says; the token stays in the environment
where the agent can read it there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.agents.clients import AGENTS, put
from tests.agents.dialects import Call
from tests.client.machine import Machine


def headers(agent: str, token: str) -> dict[str, str]:
    """`token` is the variable as this agent spells it."""
    return {"Authorization": f"Bearer {token}", "X-ICP-Agent": agent, "X-ICP-Tools": "all"}


def merge(file: Path, more: dict[str, Any]) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | more))


def claude(machine: Machine, address: str) -> list[str]:
    icp = {"type": "http", "url": address, "headers": headers("claude-code", "${ICP_TOKEN}")}
    file = machine.home / "mcp.json"
    put(file, {"mcpServers": {"icp": icp}})
    return ["--mcp-config", str(file)]


def codex(machine: Machine, address: str) -> list[str]:
    with (machine.home / ".codex" / "config.toml").open("a") as file:
        file.write(
            f'\n[mcp_servers.icp]\nurl = "{address}"\nbearer_token_env_var = "ICP_TOKEN"\n'
            'http_headers = { "X-ICP-Agent" = "codex", "X-ICP-Tools" = "all" }\n'
            'default_tools_approval_mode = "approve"\n'
        )
    return []


def in_settings(agent: str, file: str) -> Callable[[Machine, str], list[str]]:
    def configure(machine: Machine, address: str) -> list[str]:
        icp = {"httpUrl": address, "trust": True, "headers": headers(agent, "$ICP_TOKEN")}
        merge(machine.home / file, {"mcpServers": {"icp": icp}})
        return []

    return configure


def in_opencode(agent: str) -> Callable[[Machine, str], list[str]]:
    def configure(machine: Machine, address: str) -> list[str]:
        sent = headers(agent, "{env:ICP_TOKEN}")
        icp = {"type": "remote", "url": address, "enabled": True, "oauth": False, "headers": sent}
        merge(machine.home / f".config/{agent}/{agent}.json", {"mcp": {"icp": icp}})
        return []

    return configure


def copilot(machine: Machine, address: str) -> list[str]:
    icp = {"type": "http", "url": address, "tools": ["*"], "headers": headers("copilot", "${ICP_TOKEN}")}
    put(machine.home / ".copilot" / "mcp-config.json", {"mcpServers": {"icp": icp}})
    return []


def cline(machine: Machine, address: str) -> list[str]:
    """It fills in no variables: the token stands in a file of the user's own."""
    [told] = json.loads((machine.config / "connections.json").read_text()).values()
    icp = {"type": "streamableHttp", "url": address, "headers": headers("cline", told["token"])}
    put(machine.home / ".cline/data/settings/cline_mcp_settings.json", {"mcpServers": {"icp": icp}})
    return []


def cursor(machine: Machine, address: str) -> list[str]:
    icp = {"url": address, "headers": headers("cursor", "${env:ICP_TOKEN}")}
    put(machine.home / ".cursor" / "mcp.json", {"mcpServers": {"icp": icp}})
    return []


# (machine, address of /mcp) → more words on the agent's command line
SERVERS: dict[str, Callable[[Machine, str], list[str]]] = {
    "claude-code": claude,
    "codex": codex,
    "gemini-cli": in_settings("gemini-cli", ".gemini/settings.json"),
    "qwen-code": in_settings("qwen-code", ".qwen/settings.json"),
    "opencode": in_opencode("opencode"),
    "kilo": in_opencode("kilo"),
    "copilot": copilot,
    "cline": cline,
    "cursor": cursor,
}


def tool(agent: str, name: str, **given: Any) -> Call:
    more = {"namespace": "mcp__icp"} if agent == "codex" else {}
    return Call(AGENTS[agent].mcp.format(name), given, more)
