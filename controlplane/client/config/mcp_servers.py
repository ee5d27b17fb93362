"""Configure the control plane's MCP server in a client, as a program that it starts: `hook mcp AGENT`.

The program reads the saved connection, so no token is in the client's file or environment
(docs/decisions/0010).
"""

from __future__ import annotations

import os
import re

from controlplane.client.commands.hook import USER_SCOPE
from controlplane.client.config.config_files import config_path
from controlplane.client.config.hook_entries import MARK, ForeignConfigError, prefer_unchanged, read_document
from controlplane.client.config.json_edit import remove_values, set_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "icp"  # by which the gate recognises the tools in every client's spelling


def bridge_command(agent: str, scope: str = "") -> list[str]:
    """Return the command; a shell expands $HOME, so that it is the same for everybody in the repository."""
    return ["sh", "-c", f'exec "$HOME/{MARK}" mcp {agent}{" " + scope if scope else ""}']


def program_entry(**fields: Any) -> Any:
    return lambda words: {**fields, "command": words[0], "args": words[1:]}


def local_entry(words: list[str]) -> dict[str, Any]:
    return {"type": "local", "command": words, "enabled": True}


# `files` are those of a repository, `user_files` those for all: the first existing one is used, else the
# first. `key` contains the servers, "" in TOML. `entry` builds ours from the command.
class McpServer:
    __slots__ = ("entry", "files", "key", "user_files")

    def __init__(self, files: str, key: str, entry: Any, user_files: str = "") -> None:
        self.files, self.key, self.entry, self.user_files = files, key, entry, user_files or files


SERVERS = {
    "claude-code": McpServer(".mcp.json", "mcpServers", program_entry(type="stdio"), "~/.claude.json"),
    "codex": McpServer(".codex/config.toml", "", None, "~/.codex/config.toml"),
    "gemini-cli": McpServer(
        ".gemini/settings.json", "mcpServers", program_entry(trust=True), "~/.gemini/settings.json"
    ),
    "qwen-code": McpServer(
        ".qwen/settings.json", "mcpServers", program_entry(trust=True), "~/.qwen/settings.json"
    ),
    "copilot": McpServer(
        ".github/mcp.json",
        "mcpServers",
        program_entry(type="local", tools=["*"]),
        "~/.copilot/mcp-config.json",
    ),
    "cursor": McpServer(
        ".cursor/mcp.json",
        "mcpServers",
        program_entry(type="stdio", env={"CURSOR_PROJECT_DIR": "${workspaceFolder}"}),
        "~/.cursor/mcp.json",
    ),
    "windsurf": McpServer("~/.codeium/windsurf/mcp_config.json", "mcpServers", program_entry()),
    "opencode": McpServer(
        "opencode.json opencode.jsonc",
        "mcp",
        local_entry,
        "~/.config/opencode/opencode.json ~/.config/opencode/opencode.jsonc",
    ),
    "kilo": McpServer("~/.config/kilo/kilo.json ~/.config/kilo/kilo.jsonc", "mcp", local_entry),
    "cline": McpServer(
        "~/.cline/data/settings/cline_mcp_settings.json", "mcpServers", program_entry(disabled=False)
    ),
}
BEGIN, END = "# icp: made by `icp.py connect`, taken out by `icp.py disconnect`", "# icp: end"
# The end is a comment behind a value: what Codex adds to the file would go before one that stands alone.
BLOCK = rf"(?ms)\n?^{re.escape(BEGIN)}$.*?{re.escape(END)}$\n?"
# A server of the same name, or an inline table that our block at the end would break.
CONFLICTING_TOML = (
    r"""(?m)^\s*(?:\[\s*mcp_servers\s*\.\s*["']?icp["']?\s*[.\]]|mcp_servers\s*[.=]"""
    r"""|\[\s*mcp_servers\s*\][^\[]*?^\s*["']?icp["']?\s*[.=])"""
)  # fmt: skip


REMOVE_OTHER = "Remove that, or connect with --no-mcp."


def find_server_file(root: str, agent: str, scope: str) -> str:
    server = SERVERS[agent]
    names: list[str] = (server.user_files if scope == USER_SCOPE else server.files).split()
    return next((name for name in names if os.path.exists(config_path(root, name))), names[0])


def configure_server(agent: str, name: str, text: str, *, connected: bool, scope: str = "") -> str:
    """Return the file's text with our server, or without it; "" if nothing remains."""
    server = SERVERS[agent]
    command = bridge_command(agent, scope)
    if not connected and MARK not in text:
        return text  # nothing of ours, so even an unreadable file stays
    if not server.key:
        return configure_toml_server(command, name, text, connected=connected)
    read_document(agent, name, text)
    result = remove_values(text, is_removable_server) if text else ""
    if connected:
        try:
            result = set_value(result, [server.key, NAME], server.entry(command))
        except ValueError as error:
            raise ForeignConfigError(f"{name} was not changed: {error}. {REMOVE_OTHER}") from error
    return prefer_unchanged(text, result)


def is_removable_server(before: Any, after: Any) -> bool:
    return is_our_server(before) or bool(after != before and not after)


def is_our_server(value: Any) -> bool:
    """Return whether a value is an object with our command in one of its lists."""
    lists = [inner for inner in value.values() if isinstance(inner, list)] if isinstance(value, dict) else []
    return any(isinstance(word, str) and f'{MARK}" mcp ' in word for words in lists for word in words)


def configure_toml_server(command: list[str], name: str, text: str, *, connected: bool) -> str:
    """Add or remove a block at the end of a TOML file; every other line stays unchanged."""
    remaining = re.sub(BLOCK, "", text)
    if not connected:
        return remaining
    block = toml_block(command)
    if block in text:
        return text
    if re.search(CONFLICTING_TOML, remaining):
        raise ForeignConfigError(
            f"{name} was not changed: it has another server named {NAME}. {REMOVE_OTHER}"
        )
    gap = "" if not remaining else "\n" if remaining.endswith("\n") else "\n\n"
    require_toml(name, new := remaining + gap + block)
    return new


def toml_block(command: list[str]) -> str:
    """Return the block, in literal strings: none of our words contains a single quote."""
    shell, *words = command
    arguments = ", ".join(f"'{word}'" for word in words)
    lines = [
        BEGIN,
        f"[mcp_servers.{NAME}]",
        f"command = '{shell}'",
        f"args = [{arguments}]",
        "# Without this `codex exec` refuses its calls.",
        f'default_tools_approval_mode = "approve"  {END}',
    ]
    return "\n".join(lines) + "\n"


def require_toml(name: str, text: str) -> None:
    """Raise ForeignConfigError for invalid TOML, if this Python can parse it."""
    try:
        import tomllib

        tomllib.loads(text)
    except ImportError:
        pass  # before 3.11
    except ValueError as error:
        raise ForeignConfigError(f"{name} is not TOML ({error}). Correct the file first.") from error
