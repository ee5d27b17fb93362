"""The tools of every supported agent, as data.

`TABLES` maps the name of an agent to its tools; an agent that is not in it gets `COMMON`. To support
another agent, write its table and add one row here.
"""

from __future__ import annotations

from controlplane.policy.calls.toolsets.claude import CLAUDE
from controlplane.policy.calls.toolsets.codex import CODEX
from controlplane.policy.calls.toolsets.copilot import COPILOT, VSCODE
from controlplane.policy.calls.toolsets.cursor import CURSOR, WINDSURF
from controlplane.policy.calls.toolsets.gemini import GEMINI, QWEN
from controlplane.policy.calls.toolsets.icp import ICP
from controlplane.policy.calls.toolsets.kinds import MUTATING_KINDS, Toolset, merge
from controlplane.policy.calls.toolsets.opencode import OPENCODE
from controlplane.policy.calls.toolsets.rest import REST
from controlplane.policy.calls.toolsets.roo import CLINE, ROO

COMMON: Toolset = merge((REST, GEMINI, CLAUDE, ROO, ICP))

_AGENTS: dict[str, Toolset] = {
    "claude-code": CLAUDE,
    "codex": CODEX,
    "gemini-cli": GEMINI,
    "qwen-code": QWEN,
    "opencode": OPENCODE,
    "kilo": OPENCODE,
    "copilot": COPILOT,
    "vscode": VSCODE,
    "cline": CLINE,
    "roo": ROO,
    "cursor": CURSOR,
    "windsurf": WINDSURF,
}

TABLES: dict[str, Toolset] = {agent: merge((COMMON, toolset, ICP)) for agent, toolset in _AGENTS.items()}

# Every name that writes files or runs commands in any agent: none of them can be declared safe.
MUTATING_NAMES = frozenset(
    name
    for toolset in (COMMON, *TABLES.values())
    for name, tool in toolset.items()
    if tool.kind in MUTATING_KINDS
)
