"""The MCP tools of the product itself, under every name that a client gives them.

Clients build the name of an MCP tool from server and tool in different ways; the server is called
`icp` in every recipe.
"""

from __future__ import annotations

from controlplane.policy.calls.toolsets.kinds import HANDSHAKE, NO_FILES, OPAQUE, Toolset
from controlplane.policy.model import HANDSHAKE_TOOL

# Claude Code, Codex, Qwen; Gemini; OpenCode, Kilo; Copilot (two forms); Cline; Cursor
SPELLINGS = (
    "mcp__icp__{}",
    "mcp_icp_{}",
    "icp_{}",
    "icp-{}",
    "icp/{}",
    "icp__{}",
    "MCP:{}",
)

ICP_TOOLS = (
    "list_active_intents",
    "get_active_intent",
    "get_intent_context",
    "gate_status",
    "propose_intent",
    "request_scope_expansion",
    "complete_intent",
    "record_trace",
    "record_lesson",
    "list_lessons",
    "wait_for_approval",
)

# For hooks only, whose own calls pass no hook. A model that calls it could report what never happened.
HOOK_TOOL = "gate_tool_call"


def list_spellings(name: str) -> tuple[str, ...]:
    """Return every name that a client may give one of the product's tools."""
    return tuple(form.format(name) for form in SPELLINGS)


ICP: Toolset = {
    HANDSHAKE_TOOL: HANDSHAKE,
    **dict.fromkeys(list_spellings(HANDSHAKE_TOOL), HANDSHAKE),
    **{spelled: NO_FILES for name in ICP_TOOLS for spelled in list_spellings(name)},
    **dict.fromkeys(list_spellings(HOOK_TOOL), OPAQUE),
}
