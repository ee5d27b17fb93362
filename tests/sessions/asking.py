"""Builders for pages of approvals: an agent that runs into the gate, and what it asks for."""

from __future__ import annotations

from typing import Any

from sessions.models import Approval
from tests.builders import Speaker

ROOT = "/srv/shop"
AGENT = {"name": "claude-code"}


def ask(agent: Speaker, tool: str, session: str = "s-1", **call: Any) -> Approval:
    """The approval that a call of a session opens; fails when the gate answers anything but ask."""
    answer = agent.gate(tool, session, **{"root": ROOT, "agent": AGENT, **call})
    assert answer["decision"] == "ask", answer
    return Approval.objects.get(public_id=answer["approval"]["id"])


def edit(agent: Speaker, path: str = "docs/design.md", session: str = "s-1", **call: Any) -> Approval:
    """Outside `src/auth/**` unless the path says otherwise."""
    change = {"old_string": "one", "new_string": "two"}
    return ask(agent, "Edit", session, **{"file_path": f"{ROOT}/{path}", **change, **call})
