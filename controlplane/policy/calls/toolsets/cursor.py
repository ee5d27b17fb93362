"""Cursor and Windsurf Cascade. Windsurf has no tool names in its hooks, its events stand for them."""

from __future__ import annotations

from controlplane.policy.calls.toolsets.kinds import (
    DELETE,
    DOWNLOAD,
    EDIT,
    OPAQUE,
    READ,
    SEARCH,
    SHELL,
    TALK,
    WRITE,
    Kind,
    Tool,
    Toolset,
    merged,
    tools,
)

CURSOR: Toolset = merged(
    (
        tools(READ, "Read"),
        tools(SEARCH, "List Grep ReadLints"),
        tools(TALK, "Fetch WebFetch WebSearch ListMcpResources Task"),
        tools(DOWNLOAD, "FetchMcpResource"),
        tools(WRITE, "Write"),
        tools(DELETE, "Delete"),
        tools(SHELL, "Shell"),
        tools(OPAQUE, "WriteShellStdin ComputerUse RecordScreen"),
    )
)

WINDSURF: Toolset = merged(
    (
        tools(READ, "pre_read_code"),
        tools(EDIT, "pre_write_code"),
        tools(Tool(Kind.SHELL, command=("command_line",)), "pre_run_command"),
    )
)
