"""GitHub Copilot CLI, and the agent hooks of VS Code."""

from __future__ import annotations

from controlplane.policy.calls.toolsets.kinds import (
    EDIT,
    FOLDER,
    GLOB,
    NO_FILES,
    OPAQUE,
    PATCH,
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

COPILOT: Toolset = merge(
    (
        tools(READ, "view"),
        tools(SEARCH, "grep rg"),
        tools(GLOB, "glob"),
        tools(
            NO_FILES,
            "read_bash stop_bash list_bash web_fetch web_search sql session_store_sql task read_agent"
            " write_agent list_agents skill ask_user update_todo fetch_copilot_cli_documentation"
            " report_intent",
        ),
        tools(WRITE, "create"),
        # With some models an edit is a patch, which comes as the whole input.
        tools(AgentTool(ToolKind.PATCH, patch=("patch", "input")), "edit Edit apply_patch"),
        tools(SHELL, "bash"),
        {"powershell": AgentTool(ToolKind.SHELL, powershell=True)},
        tools(OPAQUE, "write_bash write_powershell"),
    )
)

VSCODE: Toolset = merge(
    (
        tools(READ, "readFile read_file view_image"),
        tools(SEARCH, "list_dir listDirectory file_search grep_search semantic_search get_errors problems"),
        tools(NO_FILES, "manage_todo_list fetch_webpage runSubagent get_terminal_output think"),
        tools(WRITE, "createFile create_file create_new_jupyter_notebook"),
        tools(EDIT, "editFiles replace_string_in_file multi_replace_string_in_file insert_edit_into_file"),
        tools(EDIT, "edit_notebook_file"),
        tools(FOLDER, "createDirectory create_directory"),
        tools(PATCH, "apply_patch"),
        tools(SHELL, "runTerminalCommand run_in_terminal runInTerminal"),
        tools(
            OPAQUE, "create_and_run_task run_task run_notebook_cell run_vscode_command create_new_workspace"
        ),
    )
)
