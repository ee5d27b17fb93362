"""The table of coding agents: events, form of a denial, time limits, configuration file."""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

AFTER = "PostToolUse UserPromptSubmit SessionStart SessionEnd SubagentStart PreCompact"
ON_FAILURE = {"onFailure": "block"}
PLUGIN_OPEN = "The client says nothing when a plugin does not load, and runs the tools."


def nested_denial(event: str, reason: str) -> dict[str, Any]:
    decision = {"permissionDecision": "deny", "permissionDecisionReason": reason}
    return {"hookSpecificOutput": {"hookEventName": event, **decision}}


def grouped_entry(command: str, seconds: int, **options: Any) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": command, "timeout": seconds, **options}]}


# `gates` are events before a tool, `others` the rest. `refuse` builds the client's denial, sent with exit
# status `status`: 0 where another status would hide the text from the model, else 2. The hook answers within
# `seconds`, may wait for a person for at most `wait` of them, and the client's own limit is ten seconds
# longer. `entry` builds one entry of the configuration `file`; without it the file is a plugin.
Client = namedtuple(  # noqa: PYI024  importing typing takes 5 ms at every call
    "Client", "gates others refuse status seconds wait file entry fails_open"
)
CLIENTS = {
    "claude-code": Client(
        "PreToolUse", AFTER, nested_denial, 2, 60, 50, ".claude/settings.json",
        lambda command, seconds, gate: grouped_entry(command, seconds, **(ON_FAILURE if gate else {})),
        "Before 2.1.295 a hook that is killed or too late; --bare, --safe-mode, disableAllHooks.",
    ),
    "codex": Client(
        "PreToolUse", AFTER, nested_denial, 2, 60, 50, ".codex/hooks.json",
        # Codex allows three seconds at most at the end of a session.
        lambda command, seconds, _: grouped_entry(command, 3 if "SessionEnd" in command else seconds),
        "Hooks that are not trusted are skipped silently: `doctor` tells. A hook that is killed.",
    ),
    "gemini-cli": Client(
        "BeforeTool", "AfterTool BeforeAgent SessionStart SessionEnd PreCompress",
        lambda _, reason: {"decision": "deny", "reason": reason}, 2, 60, 50, ".gemini/settings.json",
        lambda command, seconds, _: {"matcher": "*", **grouped_entry(command, seconds * 1000, name="icp")},
        "Hooks of a folder that is not trusted are not loaded. A hook that is killed.",
    ),
    "qwen-code": Client(
        "PreToolUse", AFTER, nested_denial, 2, 60, 50, ".qwen/settings.json",
        lambda command, seconds, _: grouped_entry(command, seconds),
        "Hooks of a folder that is not trusted are not loaded; --bare, --safe-mode. A hook that is killed.",
    ),
    "copilot": Client(
        "preToolUse", "postToolUse userPromptSubmitted sessionStart sessionEnd subagentStart preCompact",
        lambda _, reason: {"permissionDecision": "deny", "permissionDecisionReason": reason},
        0, 50, 25, ".github/hooks/icp.json",
        lambda command, seconds, _: {"type": "command", "bash": command, "timeoutSec": seconds},
        "Hooks of a folder that is not trusted are not loaded. A hook that is too late.",
    ),
    "cursor": Client(
        "preToolUse", "postToolUse beforeSubmitPrompt sessionStart sessionEnd preCompact",
        lambda _, reason: {"permission": "deny", "user_message": reason}, 0, 60, 50, ".cursor/hooks.json",
        lambda command, seconds, gate: {"command": command, "timeout": seconds, "failClosed": gate},
        "Programs of the SDK that do not load the project's settings (`settingSources`) run no hooks.",
    ),
    "windsurf": Client(
        "pre_read_code pre_write_code pre_run_command pre_mcp_tool_use", "post_write_code post_run_command",
        lambda _, reason: {"exit_status": 2, "stderr": reason}, 2, 20, 0, ".windsurf/hooks.json",
        lambda command, *_: {"command": command, "show_output": True},
        "A hook that is killed or too late (its time limit is not documented).",
    ),
    "opencode": Client(
        "tool.execute.before", "tool.execute.after chat.message session.created session.deleted",
        lambda _, reason: {"throw": reason}, 0, 60, 50, ".opencode/plugins/icp.js", None, PLUGIN_OPEN,
    ),
    "kilo": Client(
        "tool.execute.before", "tool.execute.after chat.message session.created session.deleted",
        lambda _, reason: {"throw": reason}, 0, 60, 50, ".kilo/plugins/icp.js", None, PLUGIN_OPEN,
    ),
    "cline": Client(
        "beforeTool", "afterTool beforeRun", lambda _, reason: {"skip": True, "reason": reason},
        0, 2.5, 0, ".cline/plugins/icp.js", None,
        f"{PLUGIN_OPEN} It is given 4 seconds to load, and needs the whole package `cline`.",
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
