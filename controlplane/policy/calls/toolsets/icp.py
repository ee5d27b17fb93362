"""The MCP tools of the product itself, under every name that a client gives them.

Clients build the name of an MCP tool from server and tool in different ways; the server is called
`icp` in every recipe.
"""

from __future__ import annotations

from collections.abc import Mapping

from controlplane.policy.calls.toolsets.kinds import HANDSHAKE, NO_FILES, OPAQUE, Toolset
from controlplane.policy.model import HANDSHAKE_TOOL

CURSOR_PREFIX = "MCP:"
# Claude Code, Codex, Qwen; Gemini; OpenCode, Kilo; Copilot (two forms); Cline; Cursor
SPELLINGS = (
    "mcp__icp__{}",
    "mcp_icp_{}",
    "icp_{}",
    "icp-{}",
    "icp/{}",
    "icp__{}",
    f"{CURSOR_PREFIX}{{}}",
)

# The tools of the handshake by their own names (contract 2.3): the gate does their work, whoever calls them.
HANDSHAKE_TOOLS = (
    HANDSHAKE_TOOL,
    "list_active_intents",
    "request_scope_expansion",
    "complete_intent",
    "record_lesson",
)

ICP_TOOLS = (
    "get_active_intent",
    "get_intent_context",
    "gate_status",
    "propose_intent",
    "record_trace",
    "list_lessons",
    "wait_for_approval",
)

# Decides its command itself. Not by the name that Cursor builds, which leaves out whose tool it is.
COMMAND_TOOL = "run_command"

# For hooks only, whose own calls pass no hook. A model that calls it could report what never happened.
HOOK_TOOL = "gate_tool_call"


def list_spellings(name: str) -> tuple[str, ...]:
    """Return every name that a client may give one of the product's tools."""
    return tuple(form.format(name) for form in SPELLINGS)


# Every name that a client may give a tool of the handshake, to the tool's own
HANDSHAKE_NAMES: Mapping[str, str] = {
    spelled: name for name in HANDSHAKE_TOOLS for spelled in (name, *list_spellings(name))
}

ICP: Toolset = {
    **dict.fromkeys(HANDSHAKE_NAMES, HANDSHAKE),
    **{spelled: NO_FILES for name in ICP_TOOLS for spelled in list_spellings(name)},
    **{
        spelled: NO_FILES for spelled in list_spellings(COMMAND_TOOL) if not spelled.startswith(CURSOR_PREFIX)
    },
    **dict.fromkeys(list_spellings(HOOK_TOOL), OPAQUE),
}
