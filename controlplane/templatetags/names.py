"""Names that people read: of agents, and of what a tool does. Every page and message takes them from here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from controlplane.policy.calls.resolve_tool import resolve_tool
from controlplane.policy.calls.toolsets import COMMON, TABLES
from controlplane.policy.calls.toolsets.kinds import AgentTool, ToolKind
from controlplane.policy.model import HANDSHAKE_TOOL, ToolCall

TITLES: Mapping[str, str] = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "gemini-cli": "Gemini CLI",
    "qwen-code": "Qwen Code",
    "opencode": "OpenCode",
    "kilo": "Kilo Code",
    "copilot": "Copilot CLI",
    "vscode": "Copilot in VS Code",
    "cline": "Cline",
    "roo": "Roo Code",
    "cursor": "Cursor",
    "windsurf": "Windsurf",
}
MARKS: Mapping[str, str] = {
    "Claude Code": "CC",
    "Codex": "CX",
    "Gemini CLI": "GM",
    "Qwen Code": "QW",
    "OpenCode": "OC",
    "Kilo Code": "KC",
    "Copilot CLI": "CP",
    "Copilot in VS Code": "VS",
    "Cline": "CL",
    "Roo Code": "RC",
    "Cursor": "CU",
    "Windsurf": "WS",
}
VERBS: Mapping[ToolKind, str] = {
    ToolKind.WRITE: "Write",
    ToolKind.EDIT: "Edit",
    ToolKind.EDITOR: "Edit",
    ToolKind.PATCH: "Patch",
    ToolKind.DELETE: "Delete",
    ToolKind.DELETE_TREE: "Delete the folder",
    ToolKind.MOVE: "Move",
    ToolKind.FOLDER: "Make the folder",
    ToolKind.SHELL: "Shell command",
    ToolKind.MONITOR: "Background command",
    ToolKind.READ: "Read",
    ToolKind.SEARCH: "Search",
    ToolKind.GLOB: "List",
}
OTHER_VERB = "Call"


def agent_title(name: str) -> str:
    """Return the product's name, or what an unknown agent calls itself. A title stays as it is."""
    return TITLES.get(name, name or "Unnamed agent")


def agent_letters(name: str) -> str:
    """Return two letters for an agent, by its name or its title."""
    return MARKS.get(agent_title(name)) or name[:2].upper() or "?"


def tool_verb(tool: AgentTool | None) -> str:
    """Return what a tool does; "Call" for one that no table knows, which goes by its own name."""
    return VERBS.get(tool.kind, OTHER_VERB) if tool else OTHER_VERB


def call_verb(tool: str, data: Any, agent: str) -> str:
    """Return what a recorded call does, from its tool in the agent's table, or in any table."""
    if tool == HANDSHAKE_TOOL:
        return "Select intent"
    resolved = resolve_tool(ToolCall(tool=tool, input=data, agent=agent))
    action = tool_verb(resolved.tool or _find_in_any_table(str(resolved.name)))
    return f"{action} {tool}".strip() if action == OTHER_VERB else action


@cache
def _index_tables() -> dict[str, AgentTool]:
    tables = (COMMON, *TABLES.values())
    return {name.lower(): tool for table in reversed(tables) for name, tool in table.items()}


def _find_in_any_table(name: str) -> AgentTool | None:
    return _index_tables().get(name.lower())
