"""Which tool a call means, and what class it has before its input is looked at.

Names match exactly. What no table knows is destructive, MCP tools included. A workspace may
class tools by name or glob, but never make a file tool or a shell safe, and never touch the handshake.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from controlplane.policy.calls.toolsets import COMMON, MUTATING_NAMES, TABLES
from controlplane.policy.calls.toolsets.kinds import (
    HARMLESS_WHEN_BARE,
    INPUT_DECIDES,
    READING_KINDS,
    AgentTool,
    ToolKind,
)
from controlplane.policy.model import Policy, ToolCall, ToolClass

# Tools that only pass a call on to an MCP server: where they keep server, tool and arguments.
MCP_WRAPPERS = {
    "use_mcp_tool": ("server_name", "tool_name", "arguments"),
    "pre_mcp_tool_use": ("mcp_server_name", "mcp_tool_name", "mcp_tool_arguments"),
}


@dataclass(frozen=True, slots=True)
class ResolvedTool:
    """The tool that a call really means. `tool` is None when no table knows the name."""

    name: Any
    tool: AgentTool | None
    input: Any


def resolve_tool(call: ToolCall) -> ResolvedTool:
    """Look the tool up in its agent's table; a carried MCP call is taken out of its wrapping."""
    name, data = call.tool, call.input
    if not isinstance(name, str):
        return ResolvedTool(name, None, data)
    carrier = MCP_WRAPPERS.get(name)
    if carrier and isinstance(data, Mapping):
        server, tool, arguments = (data.get(key) for key in carrier)
        if isinstance(server, str) and isinstance(tool, str):
            name, data = f"mcp__{server}__{tool}", _decoded(arguments)
    return ResolvedTool(name, TABLES.get(call.agent, COMMON).get(name), data)


def _decoded(arguments: Any) -> Any:
    """Arguments of a carried call, which some clients send as JSON text."""
    if not isinstance(arguments, str):
        return {} if arguments is None else arguments
    try:
        data = json.loads(arguments) if arguments.strip() else {}
        json.dumps(data, ensure_ascii=False).encode()  # no half characters, which no file can hold
    except (ValueError, RecursionError):
        return arguments
    return data


def find_declared_class(name: str, policy: Policy) -> ToolClass | None:
    """What the workspace says of a tool: its exact name first, then globs, of which the stricter wins
    (so the answer does not hang on the order of a JSON object)."""
    if not policy.tool_classes:
        return None
    found = [cls for pattern, cls in policy.tool_classes if pattern == name]
    found = found or [cls for pattern, cls in policy.tool_classes if fnmatchcase(name, pattern)]
    return ToolClass.DESTRUCTIVE if ToolClass.DESTRUCTIVE in found else (found[0] if found else None)


def classify_without_input(resolved: ResolvedTool, policy: Policy) -> ToolClass | None:
    """The class of a tool; None when only the input can tell (shells, downloads)."""
    name, tool = resolved.name, resolved.tool
    if tool and tool.kind is ToolKind.HANDSHAKE:
        return ToolClass.HANDSHAKE
    declared = find_declared_class(name, policy) if isinstance(name, str) else None
    by_input = tool is not None and tool.kind in INPUT_DECIDES
    if declared is ToolClass.DESTRUCTIVE or (declared and not by_input and name not in MUTATING_NAMES):
        return declared
    if tool is None:
        return ToolClass.DESTRUCTIVE
    if tool.kind in READING_KINDS:
        return ToolClass.SAFE
    return None if by_input else ToolClass.DESTRUCTIVE


def select_safe_tools(names: Iterable[str], policy: Policy, agent: str = "") -> list[str]:
    """Of the tools that a client offers, those that may be shown before an intent is selected: the
    safe ones and the handshake. Shells are left out, they are safe for some commands only."""
    return [name for name in names if _is_shown(resolve_tool(ToolCall(name, {}, agent=agent)), policy)]


def _is_shown(resolved: ResolvedTool, policy: Policy) -> bool:
    cls = classify_without_input(resolved, policy)
    if cls is None:
        return resolved.tool is not None and resolved.tool.kind in HARMLESS_WHEN_BARE
    return cls is not ToolClass.DESTRUCTIVE
