"""What the control plane does on each event of a client: ask the gate, record, open, end, or take note."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from controlplane.shared.tokens import Bearer
from sessions.adapters.file_changes import told_of, traces_of
from sessions.adapters.hook_call import Answer, Event, HookCall
from sessions.adapters.refusal_text import answer_from
from sessions.gate import check
from sessions.gate.health import alarm, health_of
from sessions.gate.request import GateRequest
from sessions.lifecycle.end import end_session
from sessions.lifecycle.guidance import prompt_of
from sessions.lifecycle.open import find_session, open_session, require_owner
from sessions.models import AgentSession
from sessions.trace_report import record_trace
from sessions.worktree import Worktree

log = logging.getLogger(__name__)

CLASS_SECONDS = 4.0  # in which classes are computed for the files of one call: a patch may name hundreds


@dataclass(frozen=True, slots=True)
class Report:
    """A hook's payload, checked: `request` holds its call and what it says about its session."""

    bearer: Bearer
    hook: HookCall
    request: GateRequest


@dataclass(frozen=True, slots=True)
class Outcome:
    """`decision` is the gate's own, `approval` the one that the caller may wait for."""

    answer: Answer
    decision: str = ""
    approval: str = ""


def act(report: Report) -> Outcome:
    """Raises `ApiError`; nothing is decided then."""
    return ACTIONS[report.hook.event](report)


def _ask_the_gate(report: Report) -> Outcome:
    answered = check.check(report.bearer, report.request)
    waits = answered["decision"] == "ask" and answered["approval"]
    return Outcome(answer_from(answered), answered["decision"], answered["approval"]["id"] if waits else "")


def _record(report: Report) -> Outcome:
    session = _open(report)
    local_root = session.workspace.local_root
    disk = Worktree(session.workspace_id, local_root, {}) if local_root else None
    call, texts = _call(report, session), report.hook.texts
    made = [] if report.hook.failed else traces_of(call, texts, disk)
    told, ends = told_of(call, texts), time.monotonic() + CLASS_SECONDS
    more = {"tool_use_id": report.request.call.call_id, "revision_id": session.revision_id or None}
    for trace in made:
        classed = time.monotonic() < ends
        record_trace(session, trace | more, report.bearer.actor, told, classed=classed)
    if made and alarm(session, health_of(session)):
        log.warning("session %s: its hooks run only in part", session.session_id)
    return Outcome(Answer())


def _call(report: Report, session: AgentSession) -> Any:
    """The call as the gate places it: the session's root counts."""
    call = report.request.call
    root = session.root or session.workspace.local_root or None
    return replace(call, root=root, cwd=call.cwd or session.cwd or None, agent=session.agent_name)


def _guide(report: Report) -> Outcome:
    return Outcome(Answer(context=prompt_of(_open(report))))


def _end(report: Report) -> Outcome:
    session = find_session(report.bearer.workspace_id, report.request.session_id)
    if session is not None:
        require_owner(session, report.bearer)
        end_session(session, report.bearer.actor)
    return Outcome(Answer())


def _take_note(report: Report) -> Outcome:
    _open(report)
    return Outcome(Answer())


def _open(report: Report) -> AgentSession:
    """Opened, or seen alive."""
    return open_session(report.bearer, report.request.opening)[0]


ACTIONS: Mapping[Event, Callable[[Report], Outcome]] = {
    Event.PRE_TOOL: _ask_the_gate,
    Event.POST_TOOL: _record,
    Event.PROMPT: _guide,
    Event.SESSION_START: _guide,
    Event.SESSION_END: _end,
    Event.SUBAGENT: _take_note,
    Event.COMPACT: _take_note,
    Event.OTHER: _take_note,
}
