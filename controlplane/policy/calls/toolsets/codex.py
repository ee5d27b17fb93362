"""OpenAI Codex CLI. Its hooks call every shell `Bash`; the other names are the model's own."""

from __future__ import annotations

from controlplane.policy.calls.toolsets.kinds import (
    NO_FILES,
    OPAQUE,
    READ,
    SHELL,
    AgentTool,
    ToolKind,
    Toolset,
    merge,
    tools,
)

CODEX: Toolset = merge(
    (
        tools(READ, "view_image"),
        tools(
            NO_FILES,
            "update_plan list_mcp_resources list_mcp_resource_templates read_mcp_resource get_goal"
            " create_goal update_goal tool_search request_user_input web_search"
            " collaborationspawn_agent collaborationwait_agent collaborationsend_message"
            " collaborationclose_agent collaborationlist_agents",
        ),
        tools(SHELL, "shell local_shell shell_command"),
        tools(AgentTool(ToolKind.SHELL, command=("cmd", "command")), "exec_command"),
        tools(OPAQUE, "write_stdin"),
    )
)
