"""OpenCode and its fork Kilo CLI."""

from __future__ import annotations

from controlplane.policy.calls.toolsets.kinds import (
    EDIT,
    GLOB,
    MONITOR,
    PATCH,
    READ,
    SEARCH,
    SHELL,
    TALK,
    WRITE,
    Toolset,
    merged,
    tools,
)

OPENCODE: Toolset = merged(
    (
        tools(READ, "read"),
        tools(SEARCH, "grep list lsp"),
        tools(GLOB, "glob"),
        tools(
            TALK,
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
