"""Handle a client's hook events: check a call, record its changes, send the prompt, end the session."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from controlplane.policy.calls.client_commands import is_trusted_program
from controlplane.shared.steps import run_steps
from controlplane.shared.tokens import Bearer
from sessions.adapters.file_changes import build_failed_traces, build_traces, read_previous_texts
from sessions.adapters.hook_call import Event, HookAnswer, HookCall
from sessions.adapters.refusal_text import to_hook_answer
from sessions.approvals.call_report import CallReport
from sessions.approvals.grants import end_reported_grant
from sessions.call_root import ClaimedRoot, resolve_call_root
from sessions.gate import check
from sessions.gate.monitoring.health import alert_if_degraded, compute_health
from sessions.gate.record import record_alone
from sessions.gate.request import GateRequest
from sessions.lifecycle.end import end_session
from sessions.lifecycle.guidance import render_prompt
from sessions.lifecycle.open import find_session, open_session, require_owner
from sessions.lifecycle.report_call import record_report
from sessions.models import AgentSession
from sessions.trace_report import record_trace
from sessions.worktree import Worktree

log = logging.getLogger(__name__)

MAX_NUMBER = 10**9  # of what a client says about a call that ran
CLASS_SECONDS = 4.0  # to compute mutation classes for the files of one call: a patch may name hundreds


@dataclass(frozen=True, slots=True)
class HookRequest:
    """A parsed and checked hook payload with the request to the gate that it amounts to."""

    bearer: Bearer
    hook: HookCall
    gate_request: GateRequest


@dataclass(frozen=True, slots=True)
class HookResult:
    """The answer for the client, the gate's decision, the id of an approval to wait for, and that of the one
    that let the call through."""

    answer: HookAnswer
    decision: str = ""
    approval: str = ""
    approved_by: str = ""


def handle_hook(request: HookRequest) -> HookResult:
    """Run the handler of the event. An error raised here means that nothing was decided."""
    return run_steps(hook_steps(request), record_alone)


def hook_steps(request: HookRequest) -> check.Steps[HookResult]:
    """Do what `handle_hook` does, and leave the recording of a decision to whoever runs the steps."""
    if request.hook.event is Event.PRE_TOOL:
        return (yield from _check_call(request))
    return HANDLERS[request.hook.event](request)


def _check_call(request: HookRequest) -> check.Steps[HookResult]:
    gate_answer = yield from check.check_steps(request.bearer, request.gate_request)
    is_pending = gate_answer["decision"] == "ask" and gate_answer["approval"]
    approval_id = gate_answer["approval"]["id"] if is_pending else ""
    call = request.gate_request.call
    program = call.client_program if is_trusted_program(call.client_program, call.root) else ""
    approved_by = (gate_answer["override"] or {}).get("approval_id", "")
    return HookResult(to_hook_answer(gate_answer, program), gate_answer["decision"], approval_id, approved_by)


def _record_changes(request: HookRequest) -> HookResult:
    session = _open_session(request, resumes=False)
    place = resolve_call_root(
        ClaimedRoot(session.root, session.repository),
        ClaimedRoot(request.gate_request.call.root or "", request.gate_request.opening.repository),
        session.workspace.local_root,
    )
    disk = Worktree(session.workspace_id, place.disk, {}) if place.disk else None
    call, hook = _resolve_call(request, session, place.root), request.hook
    traces = (
        build_failed_traces(call, session.workspace_id) if hook.failed else build_traces(call, hook, disk)
    )
    previous, deadline = read_previous_texts(call, hook.contents), time.monotonic() + CLASS_SECONDS
    references = {"tool_use_id": call.call_id, "revision_id": session.revision_id or None}
    for trace in traces:
        in_time = time.monotonic() < deadline
        record_trace(session, trace | references, request.bearer.actor, previous, with_class=in_time)
    end_reported_grant(session, call.call_id or "")
    record_report(session, call, _read_report(request.hook), request.bearer.actor)
    if traces and alert_if_degraded(session, compute_health(session)):
        log.warning("session %s: its hooks run only in part", session.session_id)
    return HookResult(HookAnswer())


def _read_report(hook: HookCall) -> CallReport:
    exit_status, duration = (
        value if type(value) is int and abs(value) < MAX_NUMBER else None
        for value in (hook.exit_status, hook.duration_ms)
    )
    return CallReport(hook.failed or bool(exit_status), exit_status, duration)


def _resolve_call(request: HookRequest, session: AgentSession, root: str | None) -> Any:
    """Return the call as the gate resolves it: relative to the session's root, not to the one it claims."""
    call = request.gate_request.call
    return replace(call, root=root, cwd=call.cwd or session.cwd or None, agent=session.agent_name)


def _answer_with_prompt(request: HookRequest) -> HookResult:
    return HookResult(HookAnswer(context=render_prompt(_open_session(request))))


def _end_session(request: HookRequest) -> HookResult:
    session = find_session(request.bearer.workspace_id, request.gate_request.session_id)
    if session is not None:
        require_owner(session, request.bearer)
        end_session(session, request.bearer.actor, by=AgentSession.EndedBy.CLIENT)
    return HookResult(HookAnswer())


def _touch_session(request: HookRequest) -> HookResult:
    _open_session(request, resumes=False)
    return HookResult(HookAnswer())


def _open_session(request: HookRequest, *, resumes: bool = True) -> AgentSession:
    """Open the session, or note that it is alive. What tells of the past may come after its end."""
    return open_session(request.bearer, request.gate_request.opening, resumes=resumes)[0]


HANDLERS: Mapping[Event, Callable[[HookRequest], HookResult]] = {
    Event.POST_TOOL: _record_changes,
    Event.PROMPT: _answer_with_prompt,
    Event.SESSION_START: _answer_with_prompt,
    Event.SESSION_END: _end_session,
    Event.SUBAGENT: _touch_session,
    Event.COMPACT: _touch_session,
    Event.OTHER: _touch_session,
}
