"""Recommended settings by coding agent: the folders for its plans, skills, memory and scratch files."""

from __future__ import annotations

from controlplane.policy.rules.places import AGENT_PLACES
from controlplane.shared.starters.starter import Starter

_LABELS = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "copilot": "Copilot CLI",
    "cursor": "Cursor",
    "gemini-cli": "Gemini CLI",
    "opencode": "OpenCode",
    "qwen-code": "Qwen Code",
}

AGENT_STARTERS = {
    agent: Starter(agent, _LABELS.get(agent, agent), agent=agent) for agent in sorted(AGENT_PLACES)
}
