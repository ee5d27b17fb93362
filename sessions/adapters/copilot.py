"""GitHub Copilot CLI (checked with 1.0.102), and the agent hooks of VS Code (from its documentation).

An event configured under its camelCase name has a flat payload and answer, under its PascalCase name nearly
those of Claude Code. Neither has a call id. A sub-agent has a session id of its own and names its parent's.
"""

from __future__ import annotations

from dataclasses import replace

from sessions.adapters import claude_format
from sessions.adapters.hook_call import (
    Body,
    Client,
    Event,
    HookAnswer,
    HookCall,
    Payload,
    event_table,
    find_exit_status,
    first,
    mapping,
)

EVENTS = event_table(
    pre_tool="preToolUse PreToolUse",
    post_tool="postToolUse PostToolUse postToolUseFailure PostToolUseFailure",
    prompt="userPromptSubmitted UserPromptSubmit",
    session_start="sessionStart SessionStart",
    session_end="sessionEnd SessionEnd",
    subagent="subagentStart subagentStop SubagentStart SubagentStop",
    compact="preCompact PreCompact",
    other="userPromptTransformed permissionRequest PermissionRequest"
    " agentStop Stop notification Notification errorOccurred ErrorOccurred",
)
VSCODE_EVENTS = event_table(
    pre_tool="PreToolUse",
    post_tool="PostToolUse",
    prompt="UserPromptSubmit",
    session_start="SessionStart",
    subagent="SubagentStart SubagentStop",
    compact="PreCompact",
    other="Stop",
)
SUCCESS = "success"
CONTEXT_EVENTS = frozenset({Event.PRE_TOOL, Event.POST_TOOL, Event.PROMPT, Event.SESSION_START})


def parse(payload: Payload, event: Event) -> HookCall:
    parent = first(payload, "parentAgentId", "parent_agent_id")
    call = claude_format.parse(payload, event)
    result = mapping(first(payload, "toolResult", "tool_result"))
    return replace(
        call,
        session_id=parent or call.session_id,
        input=first(payload, "toolArgs", "tool_input", "toolInput"),
        failed=event is Event.POST_TOOL and first(result, "resultType", "result_type") != SUCCESS,
        exit_status=find_exit_status(first(result, "textResultForLlm", "text_result_for_llm")),
    )


def render(name: str, answer: HookAnswer) -> Body:
    if name[:1].isupper():
        return claude_format.render(name, answer)
    if answer.denied:
        return {"permissionDecision": "deny", "permissionDecisionReason": answer.text}
    takes_context = EVENTS[name] in CONTEXT_EVENTS and name != "postToolUseFailure"
    return {"additionalContext": answer.context} if answer.context and takes_context else {}


CLIENT = Client(EVENTS, parse, render, max_wait_seconds=25.0)  # 30 s by default, and then the tool runs
VSCODE = Client(VSCODE_EVENTS, claude_format.parse, claude_format.render, max_wait_seconds=25.0)
