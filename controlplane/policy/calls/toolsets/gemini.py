"""Gemini CLI and its descendant Qwen Code."""

from __future__ import annotations

from controlplane.policy.calls.toolsets.kinds import (
    EDIT,
    GLOB,
    MONITOR,
    NO_FILES,
    OPAQUE,
    READ,
    SEARCH,
    SHELL,
    WRITE,
    Toolset,
    merge,
    tools,
)

GEMINI: Toolset = merge(
    (
        tools(READ, "read_file"),
        tools(SEARCH, "list_directory grep_search search_file_content"),
        tools(GLOB, "glob read_many_files"),
        tools(
            NO_FILES,
            "web_fetch google_web_search write_todos update_topic enter_plan_mode exit_plan_mode"
            " activate_skill ask_user read_background_output list_background_processes invoke_agent"
            " complete_task get_internal_docs",
        ),
        tools(WRITE, "write_file"),
        tools(EDIT, "replace"),
        tools(SHELL, "run_shell_command"),
        tools(OPAQUE, "save_memory"),
    )
)

QWEN: Toolset = merge(
    (
        GEMINI,
        tools(EDIT, "edit notebook_edit"),
        tools(MONITOR, "monitor"),
        tools(
            NO_FILES,
            "agent tool_search tool_call skill todo_write web_search get_goal update_goal list_agents task"
            " exit_plan_mode",
        ),
        tools(OPAQUE, "cron_create"),
    )
)
