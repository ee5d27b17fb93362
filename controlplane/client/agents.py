"""The table of coding agents: events, form of a denial, time limits, configuration files."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

AFTER = "PostToolUse UserPromptSubmit SessionStart SessionEnd SubagentStart PreCompact"
FAILURE = "PostToolUseFailure"  # of a tool that failed, where that is an event of its own
ON_FAILURE = {"onFailure": "block"}
PLUGIN_OPEN = "The client says nothing when a plugin does not load, and runs the tools."


def nested_denial(event: str, reason: str) -> dict[str, Any]:
    decision = {"permissionDecision": "deny", "permissionDecisionReason": reason}
    return {"hookSpecificOutput": {"hookEventName": event, **decision}}


def grouped_entry(command: str, seconds: int, matcher: str = "", **options: Any) -> dict[str, Any]:
    return {
        **matching(matcher),
        "hooks": [{"type": "command", "command": command, "timeout": seconds, **options}],
    }


def matching(matcher: str) -> dict[str, str]:
    return {"matcher": matcher} if matcher else {}


class Client:
    """One row of the table.

    `gates` are events before a tool, `others` the rest. `refuse` builds the client's denial, sent with the
    exit `status`: 0 where another one would hide the text from the model, else 2. The hook answers within
    `seconds`, may wait for a person for at most `wait` of them, and the client's own limit is ten seconds
    longer. `entry` builds one entry of the repository's `file`, or of the user's `user_file`; without it both
    are plugins. `matchers` are the tools that a hook is for, by event. `climbs` says whether the client,
    started in a sub-directory, reads the file of the repository above.
    """

    __slots__ = (
        "climbs", "entry", "fails_open", "file", "gates", "matchers", "others", "refuse", "seconds", "status",
        "user_file", "wait",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913  a row, always written with names
        self,
        *,
        gates: str,
        others: str,
        refuse: Callable[[str, str], dict[str, Any]],
        status: int,
        seconds: float,
        wait: float,
        file: str,
        user_file: str,
        entry: Callable[..., dict[str, Any]] | None,
        fails_open: str,
        matchers: dict[str, str] | None = None,
        climbs: bool = False,
    ) -> None:
        self.gates, self.others, self.refuse, self.status = gates, others, refuse, status
        self.seconds, self.wait, self.entry, self.fails_open = seconds, wait, entry, fails_open
        self.file, self.user_file, self.climbs = file, user_file, climbs
        self.matchers = matchers or {}


# Of tools that change nothing, no hook after them is started. JavaScript's expressions can leave out our own
# MCP server, whose calls record themselves; those of Codex cannot.
AFTER_CLAUDE = "^(?:Write|Edit|MultiEdit|NotebookEdit|Bash|PowerShell|mcp__(?!icp__).*)$"
AFTER_QWEN = "^(?:write_file|replace|edit|notebook_edit|run_shell_command|mcp__(?!icp__).*)$"
# And before those that touch neither files nor anything outside: lists of tasks, questions to the user.
BEFORE_CLAUDE = "^(?!(?:TodoRead|TodoWrite|TaskGet|TaskList|AskUserQuestion|EnterPlanMode|ExitPlanMode)$)"
BEFORE_GEMINI = "^(?!(?:write_todos|todo_write|update_topic|ask_user|enter_plan_mode|exit_plan_mode)$)"

CLIENTS = {
    "claude-code": Client(
        gates="PreToolUse", others=f"{AFTER} {FAILURE}", refuse=nested_denial, status=2, seconds=60, wait=50,
        file=".claude/settings.json", user_file="~/.claude/settings.json",
        entry=lambda command, seconds, gate, matcher: grouped_entry(
            command, seconds, matcher, **(ON_FAILURE if gate else {})
        ),
        matchers={"PreToolUse": BEFORE_CLAUDE, "PostToolUse": AFTER_CLAUDE, FAILURE: AFTER_CLAUDE},
        fails_open="Before 2.1.295 a hook that is killed or too late; --bare, --safe-mode, disableAllHooks.",
    ),
    "codex": Client(
        gates="PreToolUse", others=AFTER, refuse=nested_denial, status=2, seconds=60, wait=50,
        file=".codex/hooks.json", user_file="~/.codex/hooks.json", climbs=True,
        # Codex allows three seconds at most at the end of a session.
        entry=lambda command, seconds, _, matcher: grouped_entry(
            command, 3 if "SessionEnd" in command else seconds, matcher
        ),
        matchers={"PostToolUse": "^(?:Bash|apply_patch|Edit|Write|mcp__.*)$"},
        fails_open="Hooks that are not trusted are skipped silently: `doctor` tells. A hook that is killed.",
    ),
    "gemini-cli": Client(
        gates="BeforeTool", others="AfterTool BeforeAgent SessionStart SessionEnd PreCompress",
        refuse=lambda _, reason: {"decision": "deny", "reason": reason}, status=2, seconds=60, wait=50,
        file=".gemini/settings.json", user_file="~/.gemini/settings.json",
        entry=lambda command, seconds, _, matcher: grouped_entry(
            command, seconds * 1000, matcher or "*", name="icp"
        ),
        matchers={
            "BeforeTool": BEFORE_GEMINI,
            "AfterTool": "^(?:write_file|replace|edit|run_shell_command|mcp_(?!icp_).*)$",
        },
        fails_open="Hooks of a folder that is not trusted are not loaded. A hook that is killed."
        " In ACP mode it asks no hook: start it behind `icp.py acp`.",
    ),
    "qwen-code": Client(
        gates="PreToolUse", others=f"{AFTER} {FAILURE}", refuse=nested_denial, status=2, seconds=60, wait=50,
        file=".qwen/settings.json", user_file="~/.qwen/settings.json",
        entry=lambda command, seconds, _, matcher: grouped_entry(command, seconds, matcher),
        matchers={"PreToolUse": BEFORE_GEMINI, "PostToolUse": AFTER_QWEN, FAILURE: AFTER_QWEN},
        fails_open="Hooks of a folder that is not trusted are not loaded; --bare, --safe-mode."
        " A hook that is killed.",
    ),
    "copilot": Client(
        gates="preToolUse",
        others="postToolUse userPromptSubmitted sessionStart sessionEnd subagentStart preCompact",
        refuse=lambda _, reason: {"permissionDecision": "deny", "permissionDecisionReason": reason},
        status=0, seconds=50, wait=25, file=".github/hooks/icp.json", user_file="~/.copilot/hooks/icp.json",
        entry=lambda command, seconds, _, matcher: {
            "type": "command", "bash": command, "timeoutSec": seconds, **matching(matcher),
        },
        matchers={"postToolUse": "create|edit|Edit|apply_patch|bash|powershell|(?!icp-).*-.*"},
        fails_open="Hooks of a folder that is not trusted are not loaded. A hook that is too late.",
    ),
    "cursor": Client(
        gates="preToolUse",
        others="postToolUse postToolUseFailure beforeSubmitPrompt sessionStart sessionEnd preCompact",
        refuse=lambda _, reason: {"permission": "deny", "user_message": reason},
        status=0, seconds=60, wait=50, file=".cursor/hooks.json", user_file="~/.cursor/hooks.json",
        entry=lambda command, seconds, gate, matcher: {
            "command": command, "timeout": seconds, "failClosed": gate, **matching(matcher),
        },
        matchers=dict.fromkeys(("postToolUse", "postToolUseFailure"), "^(?:Write|Delete|Shell|MCP:.*)$"),
        fails_open="Programs of the SDK that load no settings (`settingSources`) run no hooks.",
    ),
    "windsurf": Client(
        gates="pre_read_code pre_write_code pre_run_command pre_mcp_tool_use",
        others="post_write_code post_run_command",
        refuse=lambda _, reason: {"exit_status": 2, "stderr": reason}, status=2, seconds=20, wait=0,
        file=".windsurf/hooks.json", user_file="~/.codeium/windsurf/hooks.json",
        entry=lambda command, *_: {"command": command, "show_output": True},
        fails_open="A hook that is killed or too late (its time limit is not documented).",
    ),
    "opencode": Client(
        gates="tool.execute.before", others="tool.execute.after chat.message session.created session.deleted",
        refuse=lambda _, reason: {"throw": reason}, status=0, seconds=60, wait=50,
        file=".opencode/plugins/icp.js", user_file="~/.config/opencode/plugins/icp.js",
        entry=None, fails_open=PLUGIN_OPEN, climbs=True,
    ),
    "kilo": Client(
        gates="tool.execute.before", others="tool.execute.after chat.message session.created session.deleted",
        refuse=lambda _, reason: {"throw": reason}, status=0, seconds=60, wait=50,
        file=".kilo/plugins/icp.js", user_file="~/.config/kilo/plugins/icp.js",
        entry=None, fails_open=PLUGIN_OPEN, climbs=True,
    ),
    "cline": Client(
        gates="beforeTool", others="afterTool beforeRun",
        refuse=lambda _, reason: {"skip": True, "reason": reason}, status=0, seconds=2.5, wait=0,
        file=".cline/plugins/icp.js", user_file="~/.cline/plugins/icp.js", entry=None,
        fails_open=f"{PLUGIN_OPEN} It is given 4 seconds to load, and needs the whole package `cline`.",
    ),
}  # fmt: skip


def find_refusal(answer: dict[str, Any]) -> str:
    """Return the reason of a denial in any client's form; "" for an answer that denies nothing."""
    output = answer.get("hookSpecificOutput") or answer
    is_denied = "deny" in {output.get(key) for key in ("permissionDecision", "decision", "permission")}
    if is_denied or output.get("skip") is True or output.get("exit_status") == 2:
        for key in ("permissionDecisionReason", "reason", "user_message", "stderr"):
            if output.get(key):
                return str(output[key])
    return str(output.get("throw") or "")


def no_objection(agent: str, event: str) -> dict[str, Any]:
    """Return what a client takes as no objection: nothing, but Cursor takes nothing as a failed hook."""
    if agent != "cursor":
        return {}
    return {"permission": "allow"} if event in CLIENTS[agent].gates.split() else {"continue": True}
