"""Answer the handshake, `select_active_intent`, when it comes as a tool call through the gate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.db import transaction

from controlplane.policy.model import Decision, ErrorType, SessionState, ToolClass, Verdict
from controlplane.shared.tokens import Bearer
from sessions.gate import snapshot_cache
from sessions.gate.answers import render_decision
from sessions.gate.request import GateRequest
from sessions.gate.snapshot import SessionSnapshot
from sessions.lifecycle.handshake import preview_selection, select_intent
from traces.ledger.append import NewEntry, append

RECORDED_FIELDS = ("decision", "classification", "error_type", "reason", "error", "intent_id")


def answer_handshake(bearer: Bearer, snapshot: SessionSnapshot, request: GateRequest) -> dict[str, Any]:
    """Select the intent, record the call like any other, and answer in the gate's form with `context`."""
    intent_id = _cited_intent_id(request)
    with transaction.atomic():
        selection = select_intent(snapshot.session, intent_id, bearer.actor)
        answer = _render_answer(snapshot, selection, intent_id)
        appended = append(_build_entry(bearer, snapshot, request, answer))
    snapshot_cache.forget(snapshot.session.workspace_id, snapshot.session.session_id)
    return answer | {"decision_id": appended.entry_id if appended else None}


def preview_handshake(snapshot: SessionSnapshot, request: GateRequest) -> dict[str, Any]:
    """Return what the handshake would answer, without selecting anything."""
    intent_id = _cited_intent_id(request)
    selection = preview_selection(snapshot.session, intent_id, snapshot.core.policy)
    return _render_answer(snapshot, selection, intent_id)


def _cited_intent_id(request: GateRequest) -> object:
    tool_input = request.call.input
    return tool_input.get("intent_id") if isinstance(tool_input, dict) else None


def _render_answer(snapshot: SessionSnapshot, selection: dict[str, Any], intent_id: object) -> dict[str, Any]:
    success = selection["success"]
    state = SessionState.ACTION if success else snapshot.core.state
    decision = Decision(
        verdict=Verdict.ALLOW if success else Verdict.DENY,
        tool_class=ToolClass.HANDSHAKE,
        intent_id=str(intent_id) if success else snapshot.core.selected_intent_id,
    )
    if not success:
        decision = replace(
            decision,
            error_type=ErrorType(selection["error_type"]),
            reason=selection["reason"],
            error=selection["error"],
        )
    session_id = snapshot.session.session_id
    answer = render_decision(decision, decision.verdict, session_id=session_id, state=state)
    return answer | {"context": selection["context"]}


def _build_entry(
    bearer: Bearer, snapshot: SessionSnapshot, request: GateRequest, answer: dict[str, Any]
) -> NewEntry:
    session, call = snapshot.session, request.call
    return NewEntry(
        workspace_id=session.workspace_id,
        kind="decision",
        session_id=session.session_id,
        intent_id=answer["intent_id"] or "",
        outcome=answer["decision"],
        agent=session.agent_name,
        tool=call.tool,
        error_type=answer["error_type"] or "",
        reason=answer["reason"] or "",
        actor=bearer.actor,
        body={"tool": call.tool, "input": call.input, "tool_use_id": call.call_id}
        | {name: answer[name] for name in RECORDED_FIELDS},
    )
