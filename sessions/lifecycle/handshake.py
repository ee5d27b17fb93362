"""`select_active_intent`: a session takes one intent, for life, and gets its context."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.db import transaction

from controlplane.policy.model import (
    ACTION_HINTS,
    Decision,
    ErrorType,
    IntentStatus,
    Policy,
    Reason,
    Registry,
    SessionState,
    ToolClass,
    Verdict,
)
from controlplane.shared.tokens import Bearer
from intents import registry
from intents.models import Intent
from intents.prompts.context import intent_context
from intents.selectors import find_intent, known_ids, unmet_dependencies
from sessions.gate import snapshot
from sessions.gate.answers import answer_of
from sessions.gate.request import GateRequest
from sessions.gate.snapshot import Held
from sessions.lifecycle.intent_lock import holder_of, take
from sessions.lifecycle.open import record_session
from sessions.models import AgentSession
from traces.ledger.append import NewEntry, append

if TYPE_CHECKING:
    from controlplane.models import Workspace

EXPECTED_FORM = re.compile(r"INT-[0-9]{3,}")
NEW_SESSION = "A session keeps its intent for life: start a new session for other work."


@dataclass(frozen=True, slots=True)
class Refusal:
    error_type: ErrorType
    reason: Reason
    error: str


def select_intent(session: AgentSession, intent_id: object, actor: str) -> dict[str, Any]:
    """The handshake's answer (contract 4); `success` false with `error` and `error_type` when refused."""
    with transaction.atomic():
        sessions = AgentSession.objects.select_for_update(of=("self",)).select_related("workspace", "intent")
        session = sessions.get(pk=session.pk)
        policy = snapshot.policy_of(session.workspace)
        intent = _locked(session.workspace, intent_id)
        refusal = _refusal(session, intent_id, intent, policy)
        if refusal is None and intent is not None:
            _take(session, intent, policy, actor)
    if refusal is not None:
        again = session.intent if refusal.error_type is ErrorType.INTENT_LOCKED else None
        return refused(refusal, again if again is not None and again.intent_id == intent_id else None)
    assert intent is not None  # _refusal names an intent that is not there
    return {"success": True, **intent_context(intent)}


def refused(refusal: Refusal, intent: Intent | None = None) -> dict[str, Any]:
    """A refusal; for the intent that the session holds already the context comes along again."""
    nothing: dict[str, Any] = {"context": None, "intent": None, "history": [], "files": []}
    return {
        "success": False,
        **(intent_context(intent) if intent is not None else nothing),
        "error": refusal.error,
        "error_type": refusal.error_type.value,
        "reason": refusal.reason.value,
        "action_hint": ACTION_HINTS[refusal.error_type],
    }


def _locked(workspace: Workspace, intent_id: object) -> Intent | None:
    if not isinstance(intent_id, str):
        return None
    intents = Intent.objects.select_for_update(of=("self",)).select_related("workspace")
    return intents.filter(workspace=workspace, intent_id=intent_id).first()


def _refusal(
    session: AgentSession, intent_id: object, intent: Intent | None, policy: Policy
) -> Refusal | None:
    return (
        _session_refusal(session)
        or _registry_refusal(session.workspace)
        or (_unknown(session.workspace, intent_id) if intent is None else None)
        or (_intent_refusal(session, intent, policy) if intent is not None else None)
    )


def _session_refusal(session: AgentSession) -> Refusal | None:
    if session.ended:
        return Refusal(ErrorType.SESSION_ENDED, Reason.ENDED, "This session has ended. Start a new session.")
    if session.selected_intent_id:
        error = f"This session is locked to {session.selected_intent_id}. {NEW_SESSION}"
        return Refusal(ErrorType.INTENT_LOCKED, Reason.ALREADY_SELECTED, error)
    return None


def _registry_refusal(workspace: Workspace) -> Refusal | None:
    state = registry.registry_state(workspace)
    if state is Registry.OK:
        return None
    return Refusal(ErrorType.ORCHESTRATION_UNAVAILABLE, Reason(state.value), registry.unavailable_text(state))


def _unknown(workspace: Workspace, intent_id: object) -> Refusal:
    ids = ", ".join(known_ids(workspace.pk)) or "none"
    if not isinstance(intent_id, str) or not EXPECTED_FORM.fullmatch(intent_id):
        error = (
            f"{intent_id!r} is no intent id of the form INT-001 (ASCII digits), nor one of this workspace."
        )
    else:
        error = f"There is no intent {intent_id} in this workspace."
    return Refusal(ErrorType.MISSING_OR_INVALID_INTENT, Reason.NOT_FOUND, f"{error} Known intents: {ids}.")


def _intent_refusal(session: AgentSession, intent: Intent, policy: Policy) -> Refusal | None:
    closed = _closed(intent)
    if closed is not None:
        return closed
    unmet = unmet_dependencies(intent)
    if unmet:
        error = f"{intent.intent_id} waits for {', '.join(unmet)} to be completed. Select another intent."
        return Refusal(ErrorType.INTENT_CONFLICT, Reason.DEPENDENCIES_UNMET, error)
    holder = holder_of(intent, policy, but=session)
    if holder is not None:
        error = f"{intent.intent_id} is held by session {holder.session_id} of {holder.agent_name or 'an agent'}. Select another intent, or wait until it is let go."  # noqa: E501
        return Refusal(ErrorType.INTENT_CONFLICT, Reason.HELD_BY_OTHER_SESSION, error)
    return None


def _closed(intent: Intent) -> Refusal | None:
    texts = {
        IntentStatus.COMPLETED: "is completed. Select another intent.",
        IntentStatus.ABANDONED: "was abandoned. Select another intent.",
        IntentStatus.BLOCKED: f"is blocked: {intent.blocked_reason or 'no reason given'}. Select another.",
    }
    text = texts.get(IntentStatus(intent.status))
    if text is None:
        return None
    reason = Reason(intent.status.lower())
    return Refusal(ErrorType.MISSING_OR_INVALID_INTENT, reason, f"{intent.intent_id} {text}")


def _take(session: AgentSession, intent: Intent, policy: Policy, actor: str) -> None:
    if intent.status == IntentStatus.PENDING:
        reason = f"selected by session {session.session_id}"
        intent = registry.move(intent, IntentStatus.IN_PROGRESS, actor=actor, reason=reason)
    take(session, intent, policy)
    record_session(session, "selected", actor, intent_id=intent.intent_id, intent_revision=intent.version)


def through_gate(bearer: Bearer, held: Held, request: GateRequest) -> dict[str, Any]:
    """The handshake as a tool call: recorded like any other, with the gate's envelope and `context`."""
    intent_id = request.call.input.get("intent_id") if isinstance(request.call.input, dict) else None
    with transaction.atomic():
        handed = select_intent(held.session, intent_id, bearer.actor)
        answer = _gate_answer(held, handed, intent_id)
        made = append(_entry(bearer, held, request, answer))
    snapshot.forget(held.session.workspace_id, held.session.session_id)
    return answer | {"decision_id": made.entry_id if made else None}


def dry_run(held: Held, request: GateRequest) -> dict[str, Any]:
    """What the handshake would answer, without taking anything."""
    intent_id = request.call.input.get("intent_id") if isinstance(request.call.input, dict) else None
    session = held.session
    intent = find_intent(session.workspace_id, str(intent_id))
    refusal = _refusal(session, intent_id, intent, held.snapshot.policy)
    if refusal is not None or intent is None:
        handed = refused(refusal or _unknown(session.workspace, intent_id))
    else:
        handed = {"success": True, **intent_context(intent)}
    return _gate_answer(held, handed, intent_id)


def _gate_answer(held: Held, handed: dict[str, Any], intent_id: object) -> dict[str, Any]:
    success = handed["success"]
    state = SessionState.ACTION if success else held.snapshot.state
    decision = Decision(
        verdict=Verdict.ALLOW if success else Verdict.DENY,
        tool_class=ToolClass.HANDSHAKE,
        intent_id=str(intent_id) if success else held.snapshot.selected_intent_id,
    )
    if not success:
        decision = replace(
            decision,
            error_type=ErrorType(handed["error_type"]), reason=handed["reason"], error=handed["error"],
        )  # fmt: skip
    answer = answer_of(decision, decision.verdict, session_id=held.session.session_id, state=state)
    return answer | {"context": handed["context"]}


def _entry(bearer: Bearer, held: Held, request: GateRequest, answer: dict[str, Any]) -> NewEntry:
    session = held.session
    shown = ("decision", "classification", "error_type", "reason", "error", "intent_id")
    return NewEntry(
        workspace_id=session.workspace_id,
        kind="decision",
        session_id=session.session_id,
        intent_id=answer["intent_id"] or "",
        outcome=answer["decision"],
        agent=session.agent_name,
        tool=request.call.tool,
        error_type=answer["error_type"] or "",
        reason=answer["reason"] or "",
        actor=bearer.actor,
        body={"tool": request.call.tool, "input": request.call.input, "tool_use_id": request.call.call_id}
        | {name: answer[name] for name in shown},
    )
