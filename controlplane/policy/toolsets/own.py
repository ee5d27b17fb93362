"""The product's own MCP tools, under every name that a client gives them.

The clients build the name of an MCP tool from server and tool in different ways; our server
is called `icp` in every recipe.
"""

from __future__ import annotations

from controlplane.policy.model import HANDSHAKE_TOOL
from controlplane.policy.toolsets.kinds import HANDSHAKE, TALK, Toolset

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

OWN_TOOLS = (
    "list_active_intents",
    "get_active_intent",
    "request_scope_expansion",
    "complete_intent",
    "record_trace",
    "record_lesson",
    "list_lessons",
    "wait_for_approval",
    "gate_tool_call",
)

OWN: Toolset = {
    HANDSHAKE_TOOL: HANDSHAKE,
    **{form.format(HANDSHAKE_TOOL): HANDSHAKE for form in SPELLINGS},
    **{form.format(name): TALK for form in SPELLINGS for name in OWN_TOOLS},
}
