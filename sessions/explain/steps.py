"""A call decided and told step by step. Nothing is recorded, opened, taken or spent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from controlplane.policy.decision import enforce
from controlplane.policy.explain import explain
from controlplane.policy.model import Decision, IntentStatus, SessionState, Step, ToolCall, ToolClass, Verdict
from controlplane.policy.paths.filesystem import Filesystem
from controlplane.shared.errors import NotFoundError, NotPermittedError
from intents.selectors import find_intent
from sessions.core_values import to_core_intent
from sessions.gate.answers import render_decision
from sessions.gate.decide import decide_call
from sessions.gate.handshake_call import preview_handshake
from sessions.gate.snapshot import read_snapshot
from sessions.lifecycle.open import find_session, require_owner, unopened_session
from sessions.models import AgentSession

if TYPE_CHECKING:
    from controlplane.models import Workspace
    from controlplane.shared.tokens import Bearer
    from sessions.gate.request import GateRequest
    from sessions.gate.snapshot import SessionSnapshot


@dataclass(frozen=True, slots=True)
class Standpoint:
    """From where a call is explained: a session, an intent that one would have taken, or both."""

    session_id: str = ""
    intent_id: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """One call on one snapshot: what is decided, and the steps that lead there."""

    call: ToolCall
    held: SessionSnapshot
    decision: Decision
    steps: tuple[Step, ...]
    world: Filesystem

    @property
    def answered(self) -> Verdict:
        return enforce(self.decision, self.held.core.policy)[0]

    @property
    def revisions(self) -> dict[str, int | None]:
        """What the decision was made upon; the session has none before it is opened."""
        intent = self.held.core.intent
        return {
            "workspace": self.held.workspace_revision,
            "session": self.held.session_revision if self.held.session.pk else None,
            "intent": intent.revision if intent else None,
        }


def explain_call(call: ToolCall, held: SessionSnapshot) -> Explanation:
    decided = decide_call(call, held)
    steps = explain(decided.call, held.core, decided.now, decided.filesystem)
    return Explanation(decided.call, held, decided.decision, steps, decided.filesystem)


def standing_of(bearer: Bearer, request: GateRequest, standpoint: Standpoint | None) -> SessionSnapshot:
    """Where a token's call stands: its own session, or, for reviewers, wherever they ask.

    Raise NotPermittedError for another's session, NotFoundError for a session or intent that is not there.
    """
    if standpoint is not None:
        if not bearer.has_role("reviewer"):
            error = "Explaining from another standpoint needs the role reviewer."
            raise NotPermittedError(error, reason="not_permitted")
        return standing_at(bearer.workspace_id, request, standpoint)
    session = find_session(bearer.workspace_id, request.session_id)
    if session is not None and not bearer.has_role("reviewer"):
        require_owner(session, bearer)
    return held_of(session or unopened_session(bearer.workspace_id, request.opening))


def standing_at(workspace_id: int, request: GateRequest, standpoint: Standpoint) -> SessionSnapshot:
    """Read the snapshot of a standpoint. Raise NotFoundError."""
    session = unopened_session(workspace_id, request.opening)
    if standpoint.session_id:
        found = find_session(workspace_id, standpoint.session_id)
        if found is None:
            raise _missing("session")
        session = found
    held = held_of(session)
    return _with_intent(held, standpoint.intent_id) if standpoint.intent_id else held


def held_of(session: AgentSession) -> SessionSnapshot:
    """The snapshot of a session. Reading one may hand a silent session its intent back: that is undone."""
    with transaction.atomic():
        held = read_snapshot(session)
        transaction.set_rollback(True)
    return held


def session_of(workspace: Workspace, session_id: str, *, agent: str = "") -> AgentSession:
    """A recorded session; where it is gone, one of that name that knows nothing."""
    found = find_session(workspace.pk, session_id)
    if found is not None:
        return found
    return AgentSession(
        workspace=workspace, session_id=session_id, agent_name=agent, last_seen_at=timezone.now()
    )


def answer(explanation: Explanation, request: GateRequest) -> dict[str, Any]:
    """The gate's envelope of a dry run, with the steps and what they were decided upon."""
    envelope = _envelope(explanation, request)
    steps = explanation.steps
    if explanation.decision.tool_class is ToolClass.HANDSHAKE:
        steps = tuple(_judged_by_handshake(step, envelope) for step in steps)
    return envelope | {
        "steps": [
            {"number": s.number, "name": s.name, "saw": s.observed, "outcome": s.outcome, "text": s.text}
            for s in steps
        ],
        "revisions": explanation.revisions,
        "nearest_pattern": explanation.decision.nearest_pattern,
        "unknown": [
            {"text": part.text, "why": part.reason, "start": part.start, "end": part.end}
            for part in explanation.decision.unknown
        ],
    }


def _judged_by_handshake(step: Step, envelope: dict[str, Any]) -> Step:
    """Where the core lets a handshake through, its own rules are what decides about the intent."""
    if step.name != "Intent" or step.outcome != "skip":
        return step
    return replace(step, outcome=envelope["decision"], text=envelope["error"] or "")


def _envelope(explanation: Explanation, request: GateRequest) -> dict[str, Any]:
    decision, held = explanation.decision, explanation.held
    allowed = decision.verdict is Verdict.ALLOW
    if decision.tool_class is ToolClass.HANDSHAKE and allowed:
        return preview_handshake(held, request)
    answered, would_be = enforce(decision, held.core.policy)
    state = held.core.state
    if state is SessionState.REQUEST and allowed and decision.tool_class is ToolClass.SAFE:
        state = SessionState.REASONING
    body = render_decision(decision, answered, session_id=held.session.session_id, state=state)
    override = held.overrides[decision.grant_id] if decision.grant_id else None
    return body | {"would_be": would_be, "override": override}


def _with_intent(held: SessionSnapshot, intent_id: str) -> SessionSnapshot:
    """As if the session had taken the intent, which would have started one that is pending."""
    row = find_intent(held.session.workspace_id, intent_id)
    if row is None:
        raise _missing("intent")
    intent = to_core_intent(row)
    if intent.status is IntentStatus.PENDING:
        intent = replace(intent, status=IntentStatus.IN_PROGRESS)
    core = replace(
        held.core,
        state=SessionState.ACTION,
        selected_intent_id=row.intent_id,
        intent=intent,
        intent_held_by_other=False,
    )
    return replace(held, core=core)


def _missing(what: str) -> NotFoundError:
    return NotFoundError(f"There is no such {what} in this workspace.", reason="not_found")
