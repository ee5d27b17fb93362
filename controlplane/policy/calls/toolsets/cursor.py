"""Cursor and Windsurf Cascade. Windsurf sends its hooks no tool names: its event names stand for them."""

from __future__ import annotations

from controlplane.policy.calls.toolsets.kinds import (
    DELETE,
    DOWNLOAD,
    EDIT,
    NO_FILES,
    OPAQUE,
    READ,
    SEARCH,
    SHELL,
    WRITE,
    AgentTool,
    ToolKind,
    Toolset,
    merge,
    tools,
)

CURSOR: Toolset = merge(
    (
        tools(READ, "Read"),
        tools(SEARCH, "List Grep ReadLints"),
        tools(NO_FILES, "Fetch WebFetch WebSearch ListMcpResources Task"),
        tools(DOWNLOAD, "FetchMcpResource"),
        tools(WRITE, "Write"),
        tools(DELETE, "Delete"),
        tools(SHELL, "Shell"),
        tools(OPAQUE, "WriteShellStdin ComputerUse RecordScreen"),
    )
)

WINDSURF: Toolset = merge(
    (
        tools(READ, "pre_read_code"),
        tools(EDIT, "pre_write_code"),
        tools(AgentTool(ToolKind.SHELL, command=("command_line",)), "pre_run_command"),
    )
)
