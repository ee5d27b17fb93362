"""Builders for previews: approvals that were never stored, and what is drawn of them."""

from __future__ import annotations

from django.utils import timezone

from intents.models import Intent
from sessions.approvals.card.previews import build_preview
from sessions.models import AgentSession, Approval

FILE = "one\ntwo\nthree\nfour\nfive\n"


def asked(tool, given, *targets, op="write", agent="claude-code", **call) -> Approval:
    """An approval that was never stored, for a call on these targets."""
    shown = [
        target if isinstance(target, dict) else {"path": target, "op": op, "recursive": False}
        for target in targets
    ]
    session = AgentSession(session_id="s-1", agent_name=agent, last_seen_at=timezone.now())
    facts = {"input": given, "cwd": None, "root": "/srv", "targets": shown, "offending": [], "unknown": []}
    return Approval(session=session, tool=tool, call=facts | call)


def drawn(workspace, approval, scope=("src/**",)):
    return build_preview(approval, workspace, Intent(intent_id="INT-001", owned_scope=list(scope)))


def lines(file):
    """Signs with texts, hunk after hunk."""
    return [
        line.sign + "".join(part.text for part in line.parts) for hunk in file.hunks for line in hunk.lines
    ]


def changed(file):
    return [line for line in lines(file) if line[0] != " "]
