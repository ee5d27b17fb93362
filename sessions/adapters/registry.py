"""All clients whose hooks are supported. To add one, write its module and add a row here."""

from __future__ import annotations

from collections.abc import Mapping

from sessions.adapters import (
    claude_code,
    cline,
    codex,
    copilot,
    cursor,
    gemini_cli,
    opencode,
    qwen_code,
    roo,
    windsurf,
)
from sessions.adapters.hook_call import Client

# The names are those of `policy/calls/toolsets` and of `templatetags/names.py`.
CLIENTS: Mapping[str, Client] = {
    "claude-code": claude_code.CLIENT,
    "codex": codex.CLIENT,
    "gemini-cli": gemini_cli.CLIENT,
    "qwen-code": qwen_code.CLIENT,
    "opencode": opencode.CLIENT,
    "kilo": opencode.CLIENT,
    "copilot": copilot.CLIENT,
    "vscode": copilot.VSCODE,
    "cline": cline.CLIENT,
    "cursor": cursor.CLIENT,
    "windsurf": windsurf.CLIENT,
    "roo": roo.CLIENT,
}
