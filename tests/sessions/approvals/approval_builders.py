"""Builders for pages of approvals: an agent that runs into the gate, and what it asks for."""

from __future__ import annotations

from typing import Any

from django.test import Client

from sessions.models import Approval
from tests.builders import Speaker

ROOT = "/srv/shop"
AGENT = {"name": "claude-code"}
HTMX = {"HX-Request": "true"}
LIST = "/w/acme/approvals/"


def ask(agent: Speaker, tool: str, session: str = "s-1", **call: Any) -> Approval:
    """The approval that a call of a session opens; fails when the gate answers anything but ask."""
    answer = agent.gate(tool, session, **{"root": ROOT, "agent": AGENT, **call})
    assert answer["decision"] == "ask", answer
    return Approval.objects.get(public_id=answer["approval"]["id"])


def edit(agent: Speaker, path: str = "docs/design.md", session: str = "s-1", **call: Any) -> Approval:
    """Outside `src/auth/**` unless the path says otherwise."""
    change = {"old_string": "one", "new_string": "two"}
    return ask(agent, "Edit", session, **{"file_path": f"{ROOT}/{path}", **change, **call})


def card(approval: Approval, action: str = "") -> str:
    """The address of a card, or of what is posted about it."""
    return f"{LIST}{approval.public_id}/{action}{'/' if action else ''}"


def page(client: Client, url: str, **query: str) -> str:
    response = client.get(url, query)
    assert response.status_code == 200, response.status_code
    return response.content.decode()


def decide(client: Client, approval: Approval, *, htmx: bool = True, **form: Any):
    form.setdefault("action", "approve")
    return client.post(card(approval, "decide"), form, headers=HTMX if htmx else {})
