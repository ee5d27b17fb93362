"""Answer the handshake tool, `select_active_intent`, when it comes as a call through the gate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.db import transaction

from controlplane.policy.model import Decision, ErrorType, SessionState, ToolClass, Verdict
from controlplane.shared.tokens import Bearer
from sessions.gate import snapshot
from sessions.gate.answers import answer_of
from sessions.gate.request import GateRequest
from sessions.gate.snapshot import Held
from sessions.lifecycle.handshake import preview_selection, select_intent
from traces.ledger.append import NewEntry, append


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
    selection = preview_selection(held.session, intent_id, held.snapshot.policy)
    return _gate_answer(held, selection, intent_id)


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
