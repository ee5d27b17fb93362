"""Roo Code and Cline: the classic names of the extensions, and those of Cline's runtime since 3."""

from __future__ import annotations

from controlplane.policy.calls.toolsets.kinds import (
    DELETE,
    EDIT,
    EDITOR,
    EXTERNAL,
    FINISH,
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

ROO: Toolset = merge(
    (
        tools(READ, "read_file"),
        tools(SEARCH, "list_files search_files codebase_search list_code_definition_names"),
        tools(
            NO_FILES,
            "ask_followup_question switch_mode new_task update_todo_list skill"
            " run_slash_command access_mcp_resource fetch_instructions read_command_output"
            " plan_mode_respond act_mode_respond load_mcp_documentation condense summarize_task",
        ),
        tools(FINISH, "attempt_completion"),
        tools(WRITE, "write_to_file generate_image"),
        tools(
            EDIT,
            "apply_diff insert_content search_and_replace search_replace edit_file edit multi_edit"
            " replace_in_file",
        ),
        tools(EDITOR, "str_replace_editor str_replace_based_edit_tool"),
        tools(PATCH, "apply_patch"),
        tools(SHELL, "execute_command"),
        tools(OPAQUE, "new_rule report_bug"),
        tools(EXTERNAL, "browser_action"),
    )
)

CLINE: Toolset = merge(
    (
        ROO,
        tools(READ, "read_files"),
        tools(SEARCH, "search_codebase"),
        tools(EDIT, "editor"),
        tools(WRITE, "write_file"),
        tools(DELETE, "delete"),
        tools(AgentTool(ToolKind.SHELL, command=("commands",)), "run_commands"),
        tools(
            NO_FILES,
            "fetch_web_content spawn_agent ask_question"
            " team_spawn_teammate team_shutdown_teammate team_status team_task team_run_task team_cancel_run"
            " team_list_runs team_await_runs team_send_message team_broadcast team_read_mailbox"
            " team_mission_log team_cleanup team_create_outcome team_attach_outcome_fragment"
            " team_review_outcome_fragment team_finalize_outcome team_list_outcomes",
        ),
    )
)
