"""Watching a session run against the gate: who tries one thing in ever new wordings wants to get around it.

Work is done on refusals only, in the transaction that records them.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from controlplane.policy.model import Decision
from sessions.gate import snapshot
from sessions.gate.outcome import COUNTED, Checked
from sessions.lifecycle.end import freeze_session
from sessions.models import AgentSession
from traces.ledger.append import NewEntry, append, body_of
from traces.models import LedgerEntry

ALERT_AFTER = 3  # different attempts at one thing
LOOKED_AT = 50  # refusals of the session, the newest
MAX_PATHS = 20  # of one call
ACTOR = "gate"


def watch(checked: Checked) -> None:
    """After a recorded refusal: alert the reviewers, once for one thing, and freeze the session if policy
    says so. 1 query, and the statements of what follows."""
    session, decision = checked.held.session, checked.decision
    attempts = _attempts(session)
    most = 0
    for subject in _subjects(list(decision.offending), str(decision.reason)):
        count = len({call for subjects, call in attempts if subject in subjects})
        most = max(most, count)
        if count >= ALERT_AFTER:
            _alert(session, decision, subject, count)
    limit = checked.held.snapshot.policy.freeze_after_denials
    if limit and most >= limit and freeze_session(session, ACTOR, frozen=True):
        snapshot.forget(session.workspace_id, session.session_id)


def _attempts(session: AgentSession) -> list[tuple[set[tuple[str, str]], str]]:
    """(what it was refused for, the call) of each of the newest refusals."""
    rows = LedgerEntry.objects.filter(
        workspace_id=session.workspace_id,
        session_id=session.session_id,
        kind="decision",
        outcome__in=["deny", "ask"],
        error_type__in=[kind.value for kind in COUNTED],
    )
    bodies = [body_of(entry) or {} for entry in rows.select_related("body").order_by("-pk")[:LOOKED_AT]]
    return [(_subjects(body.get("offending") or [], body.get("reason", "")), _call(body)) for body in bodies]


def _subjects(offending: list[str], reason: str) -> set[tuple[str, str]]:
    """What counts as one thing: a path, or, where no path is at fault, the reason."""
    return {("path", path) for path in offending[:MAX_PATHS]} or {("reason", reason)}


def _call(body: dict[str, Any]) -> str:
    return json.dumps([body.get("tool"), body.get("input")], sort_keys=True)


def _alert(session: AgentSession, decision: Decision, subject: tuple[str, str], count: int) -> None:
    kind, name = subject
    at = f"at {name}" if kind == "path" else f"({name.replace('_', ' ')})"
    key = hashlib.sha256("\0".join(subject).encode("utf-8", "surrogatepass")).hexdigest()
    append(
        NewEntry(
            workspace_id=session.workspace_id,
            kind="session",
            idempotency_key=f"alert:{session.pk}:{key}",
            session_id=session.session_id,
            intent_id=decision.intent_id or "",
            outcome="alert",
            agent=session.agent_name,
            error_type=decision.error_type or "",
            reason=str(decision.reason),
            actor=ACTOR,
            body={
                "event": "alert",
                "session_id": session.session_id,
                kind: name,
                "attempts": count,
                "text": f"{count} different attempts {at} were refused in this session.",
            },
        )
    )
