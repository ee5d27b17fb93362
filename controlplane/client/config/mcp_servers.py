"""The control plane's MCP server in a client's own configuration: a program that it starts, `hook mcp AGENT`.

No client needs the token for that, so none stands in a file or must be exported (docs/decisions/0010).
"""

from __future__ import annotations

import re

from controlplane.client.config.hook_entries import MARK, ForeignConfigError, prefer_unchanged, read_document
from controlplane.client.config.json_edit import remove_values, set_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "icp"  # under which the gate knows the tools in every client's spelling


def bridge_command(agent: str) -> list[str]:
    """By a shell, which finds the home in every client: the same words for everybody in the repository."""
    return ["sh", "-c", f'exec "$HOME/{MARK}" mcp {agent}']


def program_entry(**fields: Any) -> Any:
    return lambda words: {**fields, "command": words[0], "args": words[1:]}


def local_entry(words: list[str]) -> dict[str, Any]:
    return {"type": "local", "command": words, "enabled": True}


# `files`: the first that exists is taken, else the first; those of the home serve all repositories. `key`
# holds the servers, "" in TOML. `entry` makes ours of the command's words.
class McpServer:
    __slots__ = ("entry", "files", "key")

    def __init__(self, files: str, key: str, entry: Any) -> None:
        self.files, self.key, self.entry = files, key, entry


SERVERS = {
    "claude-code": McpServer(".mcp.json", "mcpServers", program_entry(type="stdio")),
    "codex": McpServer(".codex/config.toml", "", None),
    "gemini-cli": McpServer(".gemini/settings.json", "mcpServers", program_entry(trust=True)),
    "qwen-code": McpServer(".qwen/settings.json", "mcpServers", program_entry(trust=True)),
    "copilot": McpServer(".github/mcp.json", "mcpServers", program_entry(type="local", tools=["*"])),
    "cursor": McpServer(
        ".cursor/mcp.json",
        "mcpServers",
        program_entry(type="stdio", env={"CURSOR_PROJECT_DIR": "${workspaceFolder}"}),
    ),
    "windsurf": McpServer("~/.codeium/windsurf/mcp_config.json", "mcpServers", program_entry()),
    "opencode": McpServer("opencode.json opencode.jsonc", "mcp", local_entry),
    "kilo": McpServer("~/.config/kilo/kilo.json ~/.config/kilo/kilo.jsonc", "mcp", local_entry),
    "cline": McpServer(
        "~/.cline/data/settings/cline_mcp_settings.json", "mcpServers", program_entry(disabled=False)
    ),
}
BEGIN, END = "# icp: made by `icp.py connect`, taken out by `icp.py disconnect`", "# icp: end"
BLOCK = rf"(?ms)\n?^{re.escape(BEGIN)}$.*?^{re.escape(END)}$\n?"
# What a block of ours at the end would break, or what is a server of the same name.
CONFLICTING_TOML = (
    r"""(?m)^\s*(?:\[\s*mcp_servers\s*\.\s*["']?icp["']?\s*[.\]]|mcp_servers\s*[.=]"""
    r"""|\[\s*mcp_servers\s*\][^\[]*?^\s*["']?icp["']?\s*[.=])"""
)  # fmt: skip


REMOVE_OTHER = "Take that out, or connect with --no-mcp."


def configure_server(agent: str, name: str, text: str, *, connected: bool) -> str:
    """The whole text of the file of that name with our server, or without it. "" where nothing is left."""
    server = SERVERS[agent]
    if not connected and MARK not in text:
        return text  # readable or not
    if not server.key:
        return configure_toml_server(agent, name, text, connected=connected)
    read_document(agent, name, text)
    result = remove_values(text, is_removable_server) if text else ""
    if connected:
        try:
            result = set_value(result, [server.key, NAME], server.entry(bridge_command(agent)))
        except ValueError as error:
            raise ForeignConfigError(f"{name} is left alone: {error}. {REMOVE_OTHER}") from error
    return prefer_unchanged(text, result)


def is_removable_server(before: Any, after: Any) -> bool:
    return is_our_server(before) or bool(after != before and not after)


def is_our_server(value: Any) -> bool:
    """A server of ours is an object that holds our command as a list of words, or among them."""
    lists = [inner for inner in value.values() if isinstance(inner, list)] if isinstance(value, dict) else []
    return any(isinstance(word, str) and f'{MARK}" mcp ' in word for words in lists for word in words)


def configure_toml_server(agent: str, name: str, text: str, *, connected: bool) -> str:
    """As a block of its own at the end, so that every other line stays as it is."""
    remaining = re.sub(BLOCK, "", text)
    if not connected:
        return remaining
    block = toml_block(agent)
    if block in text:
        return text
    if re.search(CONFLICTING_TOML, remaining):
        raise ForeignConfigError(
            f"{name} is left alone: it holds a server {NAME} that is not ours. {REMOVE_OTHER}"
        )
    gap = "" if not remaining else "\n" if remaining.endswith("\n") else "\n\n"
    require_toml(name, new := remaining + gap + block)
    return new


def toml_block(agent: str) -> str:
    """Literal strings: no word of ours holds a single quote."""
    shell, *words = bridge_command(agent)
    listed = ", ".join(f"'{word}'" for word in words)
    lines = [
        BEGIN,
        f"[mcp_servers.{NAME}]",
        f"command = '{shell}'",
        f"args = [{listed}]",
        'default_tools_approval_mode = "approve"  # else `codex exec` refuses every call of it',
        END,
    ]
    return "\n".join(lines) + "\n"


def require_toml(name: str, text: str) -> None:
    """Where this Python can tell."""
    try:
        import tomllib

        tomllib.loads(text)
    except ImportError:
        pass  # before 3.11
    except ValueError as error:
        raise ForeignConfigError(f"{name} is not TOML ({error}): put it right first.") from error
