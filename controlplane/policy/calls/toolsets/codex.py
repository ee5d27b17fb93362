"""OpenAI Codex CLI. Its hooks call every shell `Bash`; the other names are the model's own."""

from __future__ import annotations

from controlplane.policy.calls.toolsets.kinds import (
    OPAQUE,
    READ,
    SHELL,
    TALK,
    Kind,
    Tool,
    Toolset,
    merged,
    tools,
)

CODEX: Toolset = merged(
    (
        tools(READ, "view_image"),
        tools(
            TALK,
            "update_plan list_mcp_resources list_mcp_resource_templates read_mcp_resource get_goal"
            " create_goal update_goal tool_search request_user_input web_search"
            " collaborationspawn_agent collaborationwait_agent collaborationsend_message"
            " collaborationclose_agent collaborationlist_agents",
        ),
        tools(SHELL, "shell local_shell shell_command"),
        tools(Tool(Kind.SHELL, command=("cmd", "command")), "exec_command"),
        tools(OPAQUE, "write_stdin"),
    )
)
