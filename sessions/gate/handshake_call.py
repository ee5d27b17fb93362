"""Answer the tools of the handshake when they come as tool calls through the gate.

`select_active_intent` has rules of its own; the others are those of `lifecycle.handshake_tools`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from controlplane.api.parsers import check_text
from controlplane.policy import messages
from controlplane.policy.calls.resolve_tool import resolve_tool
from controlplane.policy.calls.toolsets.icp import HANDSHAKE_NAMES
from controlplane.policy.model import (
    HANDSHAKE_TOOL,
    Decision,
    ErrorType,
    Reason,
    Registry,
    SessionState,
    ToolClass,
    Verdict,
)
from controlplane.shared.errors import DomainError
from controlplane.shared.masking import to_storable
from controlplane.shared.tokens import Bearer
from sessions.approvals.representations import represent_approval_briefly
from sessions.gate import snapshot_cache
from sessions.gate.answers import render_decision
from sessions.gate.request import GateRequest
from sessions.gate.snapshot import SessionSnapshot, read_snapshot
from sessions.lifecycle.handshake import preview_selection, select_intent
from sessions.lifecycle.handshake_tools import run_handshake_tool
from sessions.models import Approval
from traces.ledger.append import NewEntry, append

LIST_TOOL = "list_active_intents"
DEFAULT_REASONS: Mapping[ErrorType, Reason] = {
    ErrorType.MISSING_OR_INVALID_INTENT: Reason.NOT_FOUND,
    ErrorType.SESSION_ENDED: Reason.ENDED,
}
RECORDED_FIELDS = ("decision", "classification", "error_type", "reason", "error", "intent_id")


@dataclass(frozen=True, slots=True)
class HandshakeOutcome:
    """What one of the tools answers. `error` is "" on success."""

    context: str | None = None
    intent_id: str | None = None
    approval: Approval | None = None
    is_selected: bool = False
    error_type: ErrorType | None = None
    reason: str = ""
    error: str = ""


def answer_handshake(bearer: Bearer, snapshot: SessionSnapshot, request: GateRequest) -> dict[str, Any]:
    """Do the tool's work, record the call like any other, and answer in the gate's form with `context`."""
    name, arguments = _resolve_call(request)
    with transaction.atomic():
        if name == HANDSHAKE_TOOL:
            selection = select_intent(snapshot.session, arguments.get("intent_id"), bearer.actor)
            result = _convert_selection(snapshot, selection, arguments)
        else:
            # The cached snapshot may be older than a selection that another process has recorded.
            snapshot = read_snapshot(snapshot.session)
            result = _run_tool(snapshot, name, arguments, bearer.actor)
        answer = _render_answer(snapshot, result)
        appended = append(_build_entry(bearer, snapshot, request, answer))
    snapshot_cache.forget(snapshot.session.workspace_id, snapshot.session.session_id)
    return answer | {"decision_id": appended.entry_id if appended else None}


def preview_handshake(snapshot: SessionSnapshot, request: GateRequest) -> dict[str, Any]:
    """Return what the tool would answer, without selecting, asking or completing anything."""
    name, arguments = _resolve_call(request)
    if name == HANDSHAKE_TOOL:
        selection = preview_selection(snapshot.session, arguments.get("intent_id"), snapshot.core.policy)
        return _render_answer(snapshot, _convert_selection(snapshot, selection, arguments))
    refusal = _refuse_tool(snapshot, name)
    if refusal is None and name == LIST_TOOL:
        refusal = _run_tool(snapshot, name, arguments, "")
    return _render_answer(snapshot, refusal or _keep_intent(snapshot))


def _resolve_call(request: GateRequest) -> tuple[str, Mapping[str, Any]]:
    """Return the tool's own name and its arguments, out of the wrapper of a client."""
    resolved = resolve_tool(request.call)
    arguments = resolved.input if isinstance(resolved.input, Mapping) else {}
    return HANDSHAKE_NAMES[resolved.name], arguments


def _convert_selection(
    snapshot: SessionSnapshot, selection: dict[str, Any], arguments: Mapping[str, Any]
) -> HandshakeOutcome:
    if selection["success"]:
        return HandshakeOutcome(selection["context"], str(arguments.get("intent_id")), is_selected=True)
    return HandshakeOutcome(
        selection["context"],
        snapshot.core.selected_intent_id,
        error_type=ErrorType(selection["error_type"]),
        reason=selection["reason"],
        error=selection["error"],
    )


def _run_tool(
    snapshot: SessionSnapshot, name: str, arguments: Mapping[str, Any], actor: str
) -> HandshakeOutcome:
    refusal = _refuse_tool(snapshot, name)
    if refusal is not None:
        return refusal
    try:
        check_text(dict(arguments))
        result = run_handshake_tool(name, snapshot.session, arguments, actor)
    except ValueError as error:
        return _keep_intent(snapshot, ErrorType.HOOK_BLOCKED, Reason.INVALID_INPUT, str(error))
    except DomainError as error:
        is_known = error.error_type in ErrorType.__members__
        error_type = ErrorType(error.error_type) if is_known else ErrorType.HOOK_BLOCKED
        reason = error.details.get("reason") or DEFAULT_REASONS.get(error_type, Reason.INVALID_INPUT)
        return _keep_intent(snapshot, error_type, reason, error.error)
    return replace(_keep_intent(snapshot), context=result.text, approval=result.approval)


def _refuse_tool(snapshot: SessionSnapshot, name: str) -> HandshakeOutcome | None:
    """Steps 1 and 2 for the tools whose services do not know the registry's state and frozen sessions."""
    core = snapshot.core
    code: tuple[ErrorType, Reason]
    if core.stopped:
        code = (ErrorType.SESSION_ENDED, Reason.STOPPED)
    elif core.registry is not Registry.OK:
        code = (ErrorType.ORCHESTRATION_UNAVAILABLE, Reason(core.registry.value))
    elif name != LIST_TOOL and core.state is SessionState.ENDED:
        code = (ErrorType.SESSION_ENDED, Reason.ENDED)
    elif name != LIST_TOOL and core.frozen:
        code = (ErrorType.SESSION_ENDED, Reason.FROZEN)
    elif name != LIST_TOOL and core.selected_intent_id is None:
        code = (ErrorType.MISSING_OR_INVALID_INTENT, Reason.NONE_SELECTED)
    else:
        return None
    return _keep_intent(
        snapshot, *code, messages.render(code, intent=core.selected_intent_id, detail=core.stopped)
    )


def _keep_intent(
    snapshot: SessionSnapshot, error_type: ErrorType | None = None, reason: str = "", error: str = ""
) -> HandshakeOutcome:
    return HandshakeOutcome(
        intent_id=snapshot.core.selected_intent_id, error_type=error_type, reason=str(reason), error=error
    )


def _render_answer(snapshot: SessionSnapshot, result: HandshakeOutcome) -> dict[str, Any]:
    state = SessionState.ACTION if result.is_selected else snapshot.core.state
    decision = Decision(
        verdict=Verdict.DENY if result.error else Verdict.ALLOW,
        tool_class=ToolClass.HANDSHAKE,
        intent_id=result.intent_id,
        error_type=result.error_type,
        reason=result.reason or None,
        error=result.error or None,
    )
    session_id = snapshot.session.session_id
    answer = render_decision(decision, decision.verdict, session_id=session_id, state=state)
    if result.approval is not None:
        answer["approval"] = represent_approval_briefly(result.approval)
    return answer | {"context": result.context}


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
        body={"tool": call.tool, "input": to_storable(call.input), "tool_use_id": call.call_id}
        | {name: answer[name] for name in RECORDED_FIELDS}
        | ({"approval_id": answer["approval"]["id"]} if answer.get("approval") else {}),
    )
