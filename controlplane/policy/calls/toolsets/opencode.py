"""OpenCode and its fork Kilo CLI."""

from __future__ import annotations

from controlplane.policy.calls.toolsets.kinds import (
    EDIT,
    GLOB,
    MONITOR,
    NO_FILES,
    PATCH,
    READ,
    SEARCH,
    SHELL,
    WRITE,
    Toolset,
    merge,
    tools,
)

OPENCODE: Toolset = merge(
    (
        tools(READ, "read"),
        tools(SEARCH, "grep list lsp"),
        tools(GLOB, "glob"),
        tools(
            NO_FILES,
            "webfetch websearch todowrite todoread skill invalid task question board_list board_read"
            " kilo_local_recall",
        ),
        tools(WRITE, "write"),
        tools(EDIT, "edit multiedit patch"),
        tools(PATCH, "apply_patch"),
        tools(SHELL, "bash"),
        tools(MONITOR, "background_process"),
    )
)
