"""Claude Code."""

from __future__ import annotations

from controlplane.policy.calls.toolsets.kinds import (
    EDIT,
    EXTERNAL,
    GLOB,
    MONITOR,
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

CLAUDE: Toolset = merge(
    (
        tools(READ, "Read NotebookRead"),
        tools(SEARCH, "Grep LS LSP"),
        tools(GLOB, "Glob"),
        tools(
            NO_FILES,
            "Agent Task Skill TodoRead TodoWrite TaskCreate TaskGet TaskList TaskOutput TaskUpdate TaskStop"
            " BashOutput KillShell KillBash SendMessage ListAgents ReportFindings ToolSearch"
            " AskUserQuestion EnterPlanMode ExitPlanMode WebFetch WebSearch CronCreate CronDelete"
            " CronList ScheduleWakeup ListMcpResourcesTool ReadMcpResourceTool",
        ),
        tools(WRITE, "Write"),
        tools(EDIT, "Edit MultiEdit NotebookEdit"),
        tools(SHELL, "Bash"),
        {"PowerShell": AgentTool(ToolKind.SHELL, powershell=True)},
        tools(MONITOR, "Monitor"),
        tools(OPAQUE, "Workflow EnterWorktree ExitWorktree"),
        tools(EXTERNAL, "RemoteTrigger Artifact PushNotification SendFeedback"),
    )
)
