"""The payloads that real clients gave their hooks: one folder a client and version, one file an event."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "data" / "agent_hooks"
AGENTS = {
    "claude-code-2.1.332": "claude-code",
    "cline-3.0.65": "cline",
    "codex-0.171.0": "codex",
    "copilot-1.0.102": "copilot",
    "cursor-1.0.32": "cursor",
    "gemini-cli-0.61.0": "gemini-cli",
    "kilo-7.7.7": "kilo",
    "opencode-1.18.33": "opencode",
    "qwen-code-0.24.4": "qwen-code",
}
PLUGINS = {"opencode", "kilo"}


@dataclass(frozen=True)
class Captured:
    agent: str
    event: str
    name: str
    payload: dict[str, Any]

    @property
    def id(self) -> str:
        return f"{self.agent}/{self.name}"


def everything() -> list[Captured]:
    files = sorted(FOLDER.rglob("*.json"))
    return [_read(file) for file in files]


def one(agent: str, name: str) -> Captured:
    return next(case for case in everything() if (case.agent, case.name) == (agent, name))


def _read(file: Path) -> Captured:
    folder = next(part for part in file.parts if part in AGENTS)
    name = file.stem
    event = re.sub(r"^event-", "", name)
    event = re.match(r"(session\.\w+|tool\.execute\.\w+|[\w.]+)", event)[0]
    return Captured(AGENTS[folder], event, name, json.loads(file.read_text(encoding="utf-8")))
