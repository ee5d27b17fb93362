"""The gate: a tool call comes in, a decision goes out, and the record is committed before the answer leaves.

Decide on the held snapshot, append the decision only while that snapshot holds, else read anew and
decide again. So no decision is ever recorded against a policy, intent, grant or token that has changed.
"""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import replace
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.utils import timezone

from controlplane.api.errors import ApiError
from controlplane.policy.decision import enforce
from controlplane.policy.model import (
    SessionState,
    ToolCall,
    ToolClass,
    Verdict,
)
from controlplane.shared.masking import storable
from controlplane.shared.sqlite_lock import writing
from controlplane.shared.tokens import Bearer, forget_token
from sessions.approvals import lifecycle
from sessions.approvals.representations import represent_approval_briefly
from sessions.gate import denial_alerts, handshake, snapshot
from sessions.gate.answers import answer_of, conflicts_of
from sessions.gate.ask import join_or_plan
from sessions.gate.decide import judge
from sessions.gate.outcome import Checked
from sessions.gate.request import GateRequest
from sessions.gate.snapshot import Held
from sessions.lifecycle.open import find_session, record_session, touch
from sessions.models import AgentSession, ApprovalGrant
from traces.ledger.append import NewEntry, Prepared, append_prepared, find, prepare

log = logging.getLogger(__name__)

ATTEMPTS = 50  # each one means that somebody changed the session or the workspace in between


def check(bearer: Bearer, request: GateRequest) -> dict[str, Any]:
    """The answer of contract 3. Raises `ApiError` 401 or 403; anything else that fails is a denial.

    At most 3 statements for an allowed call of a known session.
    """
    if request.dry_run:
        return _dry_run(bearer, request)
    for _ in range(ATTEMPTS):
        held = snapshot.held_snapshot(bearer, request.opening)
        if held.session.token_id != bearer.token_id:
            raise ApiError(
                403, "PERMISSION_DENIED", "This session belongs to another token.", reason="not_yours"
            )
        checked = _judge(request, held)
        if checked.decision.tool_class is ToolClass.HANDSHAKE and checked.decision.verdict is Verdict.ALLOW:
            return handshake.through_gate(bearer, held, request)
        answer = _record(bearer, checked)
        if answer is not None:
            return answer
        _look_again(bearer, request)
    error = "The session kept changing while this call was judged. Send it again."
    raise ApiError(503, "HOOK_BLOCKED", error, reason="internal_error")


def _judge(request: GateRequest, held: Held) -> Checked:
    judged = judge(request.call, held)
    answered, would_be = enforce(judged.decision, held.snapshot.policy)
    return Checked(replace(request, call=judged.call), held, judged.decision, answered, would_be)


def _record(bearer: Bearer, checked: Checked) -> dict[str, Any] | None:
    """Commit the decision with all that follows from it; None when its snapshot no longer holds."""
    asks = checked.answered is Verdict.ASK
    planned = None if asks else _prepared(bearer, checked)  # before SQLite's lock holds every writer up
    if planned is not None and connection.vendor == "postgresql" and checked.stands_alone:
        return _append_decision(checked, planned)  # one statement is a transaction of its own
    try:
        with writing():
            if planned is None:
                checked = join_or_plan(checked)
                planned = _prepared(bearer, checked)
            answer = _append_decision(checked, planned)
            if answer is None or not _follow_up(bearer, checked, answer):
                transaction.set_rollback(True)
                return None
    except IntegrityError:
        return None  # an identical ask opened its approval first: the next look joins it
    return answer


def _prepared(bearer: Bearer, checked: Checked) -> tuple[NewEntry, Prepared]:
    """The record, masked and hashed: work that needs no database."""
    entry = _entry(bearer, checked)
    return entry, prepare(entry)


def _append_decision(checked: Checked, planned: tuple[NewEntry, Prepared]) -> dict[str, Any] | None:
    entry, prepared = planned
    holds = checked.held.holds([target.path for target in checked.decision.targets])
    made = append_prepared(prepared, only_if=holds)
    if made is not None:
        return _answer(checked, made.entry_id)
    if entry.idempotency_key is None or not _still_holds(checked.held):
        return None
    before = find(entry.workspace_id, entry.idempotency_key)
    if before is not None and before.outcome == entry.outcome and before.reason == entry.reason:
        return _answer(checked, before.entry_id)  # the same call again
    held = checked.held
    again = f"{entry.idempotency_key}:{held.workspace_revision}.{held.session_revision}"
    made = append_prepared(prepare(replace(entry, idempotency_key=again)), only_if=holds)
    if made is not None:
        return _answer(checked, made.entry_id)
    before = find(entry.workspace_id, again)
    return _answer(checked, before.entry_id) if before is not None else None


def _answer(checked: Checked, decision_id: str) -> dict[str, Any]:
    answer = answer_of(
        checked.decision, checked.answered, session_id=checked.held.session.session_id, state=checked.state
    )
    answer |= {"decision_id": decision_id, "would_be": checked.would_be}
    if checked.approval is not None:
        answer["approval"] = represent_approval_briefly(checked.approval)
    if checked.decision.grant_id:
        answer["override"] = checked.held.overrides[checked.decision.grant_id]
    return answer


def _follow_up(bearer: Bearer, checked: Checked, answer: dict[str, Any]) -> bool:
    """What a recorded decision changes: an approval, a used grant, the session's state and life."""
    session = checked.held.session
    if checked.approval is not None and checked.approval.pk is None:
        lifecycle.open_planned(checked.approval, answer["decision_id"])
    if checked.decision.grant_id and not _use_grant(checked):
        return False
    if checked.is_watched:
        denial_alerts.watch(checked)
    if checked.state is not checked.held.snapshot.state:
        _begin_reasoning(session, bearer.actor)
    if checked.shows_life:
        touch(session.pk)
        snapshot.remember(replace(checked.held, seen_at=timezone.now()))
    return True


def _use_grant(checked: Checked) -> bool:
    """Spend a `once` grant; False when another call spent it first."""
    call_id = checked.request.call.call_id or ""
    grant = ApprovalGrant.objects.get(public_id=checked.decision.grant_id)
    if grant.kind != ApprovalGrant.Kind.ONCE or (grant.used_at and grant.used_by == call_id != ""):
        return True
    used = ApprovalGrant.objects.filter(pk=grant.pk, used_at=None, revoked_at=None).update(
        used_at=timezone.now(), used_by=call_id
    )
    if used:
        AgentSession.objects.filter(pk=grant.session_id).update(revision=F("revision") + 1)
        snapshot.forget(checked.held.session.workspace_id, checked.held.session.session_id)
    return bool(used)


def _begin_reasoning(session: AgentSession, actor: str) -> None:
    began = AgentSession.objects.filter(pk=session.pk, state=SessionState.REQUEST.value).update(
        state=SessionState.REASONING.value, revision=F("revision") + 1
    )
    if began:
        record_session(session, "reasoning", actor)
    snapshot.forget(session.workspace_id, session.session_id)


def _look_again(bearer: Bearer, request: GateRequest) -> None:
    """The snapshot did not hold: forget it, and refuse at once when it was the token that went."""
    snapshot.forget(bearer.workspace_id, request.session_id)
    if not bearer.still_valid():
        forget_token(bearer.token_id)
        raise ApiError(
            401, "UNAUTHENTICATED", "This token is unknown or was revoked.", reason="unauthenticated"
        )


def _still_holds(held: Held) -> bool:
    fresh = snapshot.read_snapshot(held.session)
    return (fresh.workspace_revision, fresh.session_revision) == (
        held.workspace_revision,
        held.session_revision,
    )


def _entry(bearer: Bearer, checked: Checked) -> NewEntry:
    session, decision = checked.held.session, checked.decision
    return NewEntry(
        workspace_id=session.workspace_id,
        kind="decision",
        idempotency_key=_call_key(session, checked.request.call),
        session_id=session.session_id,
        intent_id=decision.intent_id or "",
        outcome=decision.verdict.value,
        agent=session.agent_name,
        tool=checked.request.call.tool,
        error_type=decision.error_type.value if decision.error_type else "",
        reason=str(decision.reason or ""),
        actor=bearer.actor,
        body=_decision_body(checked),
    )


def _decision_body(checked: Checked) -> dict[str, Any]:
    call, decision, held = checked.request.call, checked.decision, checked.held
    body: dict[str, Any] = {
        "tool": call.tool,
        "input": storable(call.input),
        "cwd": call.cwd,
        "tool_use_id": call.call_id,
        "decision": decision.verdict.value,
        "answered": checked.answered.value,
        "classification": decision.tool_class.value,
        "targets": [target.path for target in decision.targets],
        "intent_id": decision.intent_id,
        "intent_revision": held.snapshot.intent.revision if held.snapshot.intent else None,
        "revisions": [held.workspace_revision, held.session_revision],
    }
    if decision.error_type:
        body |= {
            "error_type": decision.error_type.value,
            "reason": str(decision.reason),
            "error": decision.error,
            "offending": list(decision.offending) or None,
        }
    if decision.reads:
        body["reads"] = [target.path for target in decision.reads]
    if decision.conflicts:
        body["conflicts"] = conflicts_of(decision)
    if decision.unknown:
        body["unknown"] = [{"text": storable(part.text), "why": part.reason} for part in decision.unknown]
    if checked.approval is not None:
        body["approval_id"] = checked.approval.public_id
    if decision.grant_id:
        body["override"] = held.overrides[decision.grant_id]
    return {name: value for name, value in body.items() if value is not None}


def _call_key(session: AgentSession, call: ToolCall) -> str | None:
    """One key for one call: the same `tool_use_id` with the same input again is the same call."""
    if not call.call_id:
        return None
    text = json.dumps([call.call_id, call.tool, call.input, call.cwd], sort_keys=True)
    return f"call:{session.pk}:{hashlib.sha256(text.encode()).hexdigest()}"


def _dry_run(bearer: Bearer, request: GateRequest) -> dict[str, Any]:
    """Decide and answer; record nothing, open nothing, spend nothing."""
    session = find_session(bearer.workspace_id, request.session_id)
    if session is None:
        session = AgentSession(
            workspace_id=bearer.workspace_id,
            session_id=request.session_id,
            agent_name=request.opening.agent_name,
            root=request.opening.root or request.opening.cwd,
            cwd=request.opening.cwd,
            last_seen_at=timezone.now(),
        )
    elif session.token_id != bearer.token_id and not bearer.may("reviewer"):
        raise ApiError(403, "PERMISSION_DENIED", "This session belongs to another token.", reason="not_yours")
    held = snapshot.read_snapshot(session)
    checked = _judge(request, held)
    if checked.decision.tool_class is ToolClass.HANDSHAKE and checked.decision.verdict is Verdict.ALLOW:
        return handshake.dry_run(held, request)
    return _answer(checked, "") | {"decision_id": None}
