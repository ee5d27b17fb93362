"""Display names of agents."""

from __future__ import annotations

from collections.abc import Mapping

TITLES: Mapping[str, str] = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "gemini-cli": "Gemini CLI",
    "qwen-code": "Qwen Code",
    "opencode": "OpenCode",
    "kilo": "Kilo Code",
    "copilot": "Copilot CLI",
    "vscode": "Copilot in VS Code",
    "cline": "Cline",
    "roo": "Roo Code",
    "cursor": "Cursor",
    "windsurf": "Windsurf",
}


def agent_title(name: str) -> str:
    """Return the product's name, or what an unknown agent calls itself."""
    return TITLES.get(name, name or "Unnamed agent")
