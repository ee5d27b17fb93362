"""Alert reviewers on repeated denials for one target in one session: a probable bypass attempt.

Work is done on denials only, in the transaction that records them.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.db.models import BinaryField, Case, F, When
from django.db.models.functions import Length

from controlplane.policy.model import Decision
from sessions.gate import snapshot_cache
from sessions.gate.outcome import COUNTED_ERROR_TYPES, GateOutcome
from sessions.lifecycle.end import freeze_session
from sessions.models import AgentSession
from traces.ledger.append import NewEntry, append
from traces.models import LedgerEntry

ALERT_AFTER = 3  # different calls denied for one subject
MAX_DENIALS_READ = 50  # of the session, the newest
MAX_PATHS = 20  # of one call
MAX_BODY_READ = 64 * 1024  # bytes of a denial's body
ACTOR = "gate"


def alert_on_repeated_denials(outcome: GateOutcome) -> None:
    """Alert the reviewers, once for each subject, and freeze the session if policy says so.

    1 query, and the statements of what follows from it.
    """
    session, decision = outcome.snapshot.session, outcome.decision
    attempts = _find_attempts(session)
    largest = 0
    for subject in _find_subjects(list(decision.offending), str(decision.reason)):
        count = len({call for subjects, call in attempts if subject in subjects})
        largest = max(largest, count)
        if count >= ALERT_AFTER:
            _append_alert(session, decision, subject, count)
    limit = outcome.snapshot.core.policy.freeze_after_denials
    if limit and largest >= limit and freeze_session(session, ACTOR, frozen=True):
        snapshot_cache.forget(session.workspace_id, session.session_id)


def _find_attempts(session: AgentSession) -> list[tuple[set[tuple[str, str]], str]]:
    """Return (subjects, call) of each of the newest denials, this one included."""
    rows = LedgerEntry.objects.filter(
        workspace_id=session.workspace_id,
        session_id=session.session_id,
        kind="decision",
        outcome__in=["deny", "ask"],
        error_type__in=[kind.value for kind in COUNTED_ERROR_TYPES],
    )
    # A long body is told apart by its size: to read fifty of them would take seconds, in a transaction.
    short_body = Case(When(size__lte=MAX_BODY_READ, then=F("body__body")), output_field=BinaryField())
    newest = rows.annotate(size=Length("body__body")).annotate(short_body=short_body).order_by("-pk")
    values = newest.values_list("short_body", "reason", "size")[:MAX_DENIALS_READ]
    return [_read_attempt(body, reason, size) for body, reason, size in values]


def _read_attempt(body: Any, reason: str, size: int | None) -> tuple[set[tuple[str, str]], str]:
    if body is None:
        return _find_subjects([], reason), f"{size} bytes"
    denial = json.loads(bytes(body))
    return _find_subjects(denial.get("offending") or [], denial.get("reason", "")), _serialize_call(denial)


def _find_subjects(offending: list[str], reason: str) -> set[tuple[str, str]]:
    """Return what the call was denied for: its offending paths, or the reason where no path is at fault."""
    return {("path", path) for path in offending[:MAX_PATHS]} or {("reason", reason)}


def _serialize_call(body: dict[str, Any]) -> str:
    return json.dumps([body.get("tool"), body.get("input")], sort_keys=True)


def _append_alert(session: AgentSession, decision: Decision, subject: tuple[str, str], count: int) -> None:
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
