"""Resolve the tool that a call means, and its class as far as it goes without the input.

Names match exactly. What no table knows is destructive, MCP tools included. A workspace may declare
the class of tools by name or glob, but never make a file tool or a shell safe, nor change the handshake.
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

# Tools that only pass a call on to an MCP server: the keys of server, tool and arguments.
MCP_WRAPPERS = {
    "use_mcp_tool": ("server_name", "tool_name", "arguments"),
    "pre_mcp_tool_use": ("mcp_server_name", "mcp_tool_name", "mcp_tool_arguments"),
}


@dataclass(frozen=True, slots=True)
class ResolvedTool:
    """The tool that a call means, out of any wrapper. `tool` is None when no table knows the name."""

    name: Any
    tool: AgentTool | None
    input: Any


def resolve_tool(call: ToolCall) -> ResolvedTool:
    """Look the tool up in its agent's table; an MCP call is taken out of its wrapper first."""
    name, data = call.tool, call.input
    if not isinstance(name, str):
        return ResolvedTool(name, None, data)
    carrier = MCP_WRAPPERS.get(name)
    if carrier and isinstance(data, Mapping):
        server, tool, arguments = (data.get(key) for key in carrier)
        if isinstance(server, str) and isinstance(tool, str):
            name, data = f"mcp__{server}__{tool}", _decode_arguments(arguments)
    return ResolvedTool(name, TABLES.get(call.agent, COMMON).get(name), data)


def _decode_arguments(arguments: Any) -> Any:
    """Return the arguments of a wrapped call, which some clients send as JSON text."""
    if not isinstance(arguments, str):
        return {} if arguments is None else arguments
    try:
        data = json.loads(arguments) if arguments.strip() else {}
        json.dumps(data, ensure_ascii=False).encode()  # raises on lone surrogates, which no file can hold
    except (ValueError, RecursionError):
        return arguments
    return data


def find_declared_class(name: str, policy: Policy) -> ToolClass | None:
    """Return the class that the workspace declares for a tool: by its exact name, else by globs.

    Of several globs the stricter class wins: the order of a JSON object must not decide.
    """
    if not policy.tool_classes:
        return None
    classes = [cls for pattern, cls in policy.tool_classes if pattern == name]
    classes = classes or [cls for pattern, cls in policy.tool_classes if fnmatchcase(name, pattern)]
    return ToolClass.DESTRUCTIVE if ToolClass.DESTRUCTIVE in classes else (classes[0] if classes else None)


def classify_without_input(resolved: ResolvedTool, policy: Policy) -> ToolClass | None:
    """Return the class of a tool; None when it depends on the input (shells, downloads)."""
    name, tool = resolved.name, resolved.tool
    if tool and tool.kind is ToolKind.HANDSHAKE:
        return ToolClass.HANDSHAKE
    declared = find_declared_class(name, policy) if isinstance(name, str) else None
    input_decides = tool is not None and tool.kind in INPUT_DECIDES
    if declared is ToolClass.DESTRUCTIVE or (declared and not input_decides and name not in MUTATING_NAMES):
        return declared
    if tool is None:
        return ToolClass.DESTRUCTIVE
    if tool.kind in READING_KINDS:
        return ToolClass.SAFE
    return None if input_decides else ToolClass.DESTRUCTIVE


def select_safe_tools(names: Iterable[str], policy: Policy, agent: str = "") -> list[str]:
    """Return those of a client's tools that may be offered before an intent is selected: the safe ones and
    the handshake. Shells are left out, as they are safe for some commands only."""
    return [name for name in names if _is_selectable(resolve_tool(ToolCall(name, {}, agent=agent)), policy)]


def _is_selectable(resolved: ResolvedTool, policy: Policy) -> bool:
    cls = classify_without_input(resolved, policy)
    if cls is None:
        return resolved.tool is not None and resolved.tool.kind in HARMLESS_WHEN_BARE
    return cls is not ToolClass.DESTRUCTIVE
