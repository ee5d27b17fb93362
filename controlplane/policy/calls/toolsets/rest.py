"""Names that clients of the plain REST gate may use for the usual file operations."""

from __future__ import annotations

from controlplane.policy.calls.toolsets.kinds import (
    DELETE,
    DELETE_TREE,
    FOLDER,
    MOVE,
    PATCH,
    SHELL,
    WRITE,
    Toolset,
    merge,
    tools,
)

REST: Toolset = merge(
    (
        tools(WRITE, "create_file"),
        tools(DELETE, "delete_file remove_file"),
        tools(DELETE_TREE, "delete_directory remove_directory"),
        tools(MOVE, "move_file rename_file"),
        tools(FOLDER, "create_directory"),
        tools(PATCH, "apply_patch"),
        tools(SHELL, "shell"),
    )
)
