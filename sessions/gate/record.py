"""Record gate decisions in the ledger, each bound to the snapshot it was decided on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import IntegrityError, connection, transaction

from controlplane.policy.model import ToolCall, Verdict
from controlplane.shared.database.sqlite_lock import write_transaction
from controlplane.shared.integrity import is_violation
from controlplane.shared.masking import to_storable
from controlplane.shared.tokens import Bearer
from sessions.approvals.effects import render_effects
from sessions.gate.answers import render_conflicts
from sessions.gate.ask import attach_approval
from sessions.gate.follow_up import follow_up
from sessions.gate.outcome import GateOutcome
from sessions.models import UNIQUE_PENDING_APPROVAL, AgentSession, Approval
from traces.ledger.append import (
    AppendedEntry,
    Condition,
    NewEntry,
    PreparedEntry,
    append_prepared,
    append_together,
    find_by_key,
    prepare,
)


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision that is to be recorded, and whose call it is about."""

    bearer: Bearer
    outcome: GateOutcome

    @property
    def is_plain(self) -> bool:
        """Whether the decision is all that must be written, so that others may share its transaction."""
        return not self.outcome.has_follow_up


def record_alone(decided: Decided) -> GateOutcome | None:
    """Commit a decision with all that follows from it; None when its snapshot no longer holds."""
    return record_outcome(decided.bearer, decided.outcome)


def record_together(decided: Sequence[Decided]) -> list[GateOutcome | None]:
    """Commit plain decisions in one transaction, each on its own condition; None for those that do not hold.

    1 statement a decision (2 on SQLite), in one round trip on PostgreSQL. An error fails them all: nothing
    is recorded then, and the caller records each alone.
    """
    decided = [replace(item, outcome=item.outcome.with_stored_call()) for item in decided]
    entries = [_build_entry(item.bearer, item.outcome) for item in decided]
    prepared = [
        (prepare(entry), _condition(item.outcome)) for entry, item in zip(entries, decided, strict=True)
    ]
    with write_transaction():
        appended = append_together(prepared)
        return [
            _resolve(item.outcome, entry, condition, row)
            for item, entry, (_, condition), row in zip(decided, entries, prepared, appended, strict=True)
        ]


def record_outcome(bearer: Bearer, outcome: GateOutcome) -> GateOutcome | None:
    """Commit a decision with all that follows from it; None when its snapshot no longer holds."""
    asks = outcome.answered is Verdict.ASK
    # Masking and hashing need no database: done before SQLite's lock makes every other writer wait.
    outcome = outcome.with_stored_call()
    prepared = None if asks else _prepare(bearer, outcome)
    if prepared is not None and connection.vendor == "postgresql" and not outcome.has_follow_up:
        return _append(outcome, *prepared)  # a single statement is a transaction of its own
    try:
        with write_transaction():
            if prepared is None:
                outcome = attach_approval(outcome)
                prepared = _prepare(bearer, outcome)
            recorded = _append(outcome, *prepared)
            if recorded is None or not follow_up(bearer, recorded):
                transaction.set_rollback(True)
                return None
    except IntegrityError as error:
        if is_violation(error, Approval, UNIQUE_PENDING_APPROVAL):
            return None  # an identical ask opened its approval first: the next attempt joins it
        raise
    return recorded


def _prepare(bearer: Bearer, outcome: GateOutcome) -> tuple[NewEntry, PreparedEntry]:
    entry = _build_entry(bearer, outcome)
    return entry, prepare(entry)


def _append(outcome: GateOutcome, entry: NewEntry, prepared: PreparedEntry) -> GateOutcome | None:
    """Append the entry while the snapshot holds. 1 statement (2 on SQLite) unless the call came before."""
    condition = _condition(outcome)
    return _resolve(outcome, entry, condition, append_prepared(prepared, only_if=condition))


def _condition(outcome: GateOutcome) -> Condition:
    # Check and record are one statement, so nothing can change between the two.
    return outcome.snapshot.unchanged([target.path for target in outcome.decision.targets])


def _resolve(
    outcome: GateOutcome, entry: NewEntry, condition: Condition, appended: AppendedEntry | None
) -> GateOutcome | None:
    """Return the recorded outcome; where nothing was inserted, find out whether the call came before."""
    if appended is not None:
        return replace(outcome, decision_id=appended.entry_id)
    # Nothing was inserted: either the snapshot is stale, or an entry with this key exists.
    if entry.idempotency_key is None or not outcome.snapshot.is_current():
        return None
    previous = find_by_key(entry.workspace_id, entry.idempotency_key)
    if previous is not None and (previous.outcome, previous.reason) == (entry.outcome, entry.reason):
        return replace(outcome, decision_id=previous.entry_id)  # a retry of the same call
    # The same call was decided otherwise before, under other revisions: this is a new decision. Its key names
    # the revisions, so that retries under these are one entry too.
    snapshot = outcome.snapshot
    key = f"{entry.idempotency_key}:{snapshot.workspace_revision}.{snapshot.session_revision}"
    appended = append_prepared(prepare(replace(entry, idempotency_key=key)), only_if=condition)
    if appended is not None:
        return replace(outcome, decision_id=appended.entry_id)
    previous = find_by_key(
        entry.workspace_id, key
    )  # by a concurrent retry; without one the snapshot went stale
    return replace(outcome, decision_id=previous.entry_id) if previous is not None else None


def _build_entry(bearer: Bearer, outcome: GateOutcome) -> NewEntry:
    session, decision = outcome.snapshot.session, outcome.decision
    return NewEntry(
        workspace_id=session.workspace_id,
        kind="decision",
        idempotency_key=_idempotency_key(session, outcome.request.call),
        session_id=session.session_id,
        intent_id=decision.intent_id or "",
        outcome=decision.verdict.value,
        agent=session.agent_name,
        tool=outcome.request.call.tool,
        error_type=decision.error_type.value if decision.error_type else "",
        reason=str(decision.reason or ""),
        actor=bearer.actor,
        body=_build_body(outcome),
    )


def _build_body(outcome: GateOutcome) -> dict[str, Any]:
    call, decision, snapshot = outcome.request.call, outcome.decision, outcome.snapshot
    session = snapshot.session
    intent = snapshot.core.intent
    body: dict[str, Any] = {
        "tool": call.tool,
        "input": outcome.stored_call.input,
        "cwd": call.cwd,
        "root": call.root if session.root and call.root != session.root else None,
        "tool_use_id": call.call_id,
        "decision": decision.verdict.value,
        "answered": outcome.answered.value,
        "classification": decision.tool_class.value,
        "targets": [target.path for target in decision.targets],
        "intent_id": decision.intent_id,
        "intent_revision": intent.revision if intent else None,
        "revisions": [snapshot.workspace_revision, snapshot.session_revision],
    }
    if decision.error_type:
        body |= {
            "error_type": decision.error_type.value,
            "reason": str(decision.reason),
            "error": to_storable(decision.error),  # it quotes the call
            "offending": list(decision.offending) or None,
        }
    if decision.reads:
        body["reads"] = [target.path for target in decision.reads]
    if decision.conflicts:
        body["conflicts"] = render_conflicts(decision)
    if decision.effects:
        body["effects"] = render_effects(decision.effects)
    if decision.refused:
        body["refused"] = sorted({part.kind for part in decision.refused})
    if decision.unknown:
        texts = outcome.stored_call.unknown
        body["unknown"] = [
            {"text": text, "why": part.reason} for text, part in zip(texts, decision.unknown, strict=True)
        ]
    if outcome.approval is not None:
        body["approval_id"] = outcome.approval.public_id
    if outcome.rejection is not None:
        body["rejection"] = {"approval_id": outcome.rejection.public_id}
    if decision.grant_id:
        body["override"] = snapshot.overrides[decision.grant_id]
    return {name: value for name, value in body.items() if value is not None}


def _idempotency_key(session: AgentSession, call: ToolCall) -> str | None:
    """Return one key for one call: the same `tool_use_id` with the same tool, input and folder."""
    if not call.call_id:
        return None
    text = json.dumps([call.call_id, call.tool, call.input, call.cwd], sort_keys=True)
    return f"call:{session.pk}:{hashlib.sha256(text.encode()).hexdigest()}"
