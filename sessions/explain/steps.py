"""Decide a call as the gate would and explain each step, without recording, opening or spending anything."""

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
from sessions.lifecycle.open import build_session, find_session, require_owner
from sessions.models import AgentSession

if TYPE_CHECKING:
    from controlplane.models import Workspace
    from controlplane.shared.tokens import Bearer
    from sessions.gate.request import GateRequest
    from sessions.gate.snapshot import SessionSnapshot


@dataclass(frozen=True, slots=True)
class Viewpoint:
    """The session or intent (or both) from which a call is explained."""

    session_id: str = ""
    intent_id: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The decision on one call and snapshot, with the steps that lead to it."""

    call: ToolCall
    snapshot: SessionSnapshot
    decision: Decision
    steps: tuple[Step, ...]
    filesystem: Filesystem

    @property
    def answered_verdict(self) -> Verdict:
        return enforce(self.decision, self.snapshot.core.policy)[0]

    @property
    def revisions(self) -> dict[str, int | None]:
        """Return the revisions that the decision rests on; a session has none before it is opened."""
        intent = self.snapshot.core.intent
        return {
            "workspace": self.snapshot.workspace_revision,
            "session": self.snapshot.session_revision if self.snapshot.session.pk else None,
            "intent": intent.revision if intent else None,
        }


def explain_call(call: ToolCall, snapshot: SessionSnapshot, repository: str = "") -> Explanation:
    decided_call = decide_call(call, snapshot, repository)
    steps = explain(decided_call.call, snapshot.core, decided_call.now, decided_call.filesystem)
    return Explanation(decided_call.call, snapshot, decided_call.decision, steps, decided_call.filesystem)


def read_snapshot_for_token(
    bearer: Bearer, request: GateRequest, viewpoint: Viewpoint | None
) -> SessionSnapshot:
    """Read the snapshot for a token's call: its own session, or for reviewers any viewpoint.

    Raise NotPermittedError for another's session, NotFoundError for a session or intent that is not there.
    """
    if viewpoint is not None:
        if not bearer.has_role("reviewer"):
            error = "Explaining from another viewpoint needs the role reviewer."
            raise NotPermittedError(error, reason="not_permitted")
        return read_snapshot_at(bearer.workspace_id, request, viewpoint)
    session = find_session(bearer.workspace_id, request.session_id)
    if session is not None and not bearer.has_role("reviewer"):
        require_owner(session, bearer)
    return read_session_snapshot(session or build_session(bearer.workspace_id, request.opening))


def read_snapshot_at(workspace_id: int, request: GateRequest, viewpoint: Viewpoint) -> SessionSnapshot:
    """Read the snapshot of a viewpoint. Raise NotFoundError."""
    session = build_session(workspace_id, request.opening)
    if viewpoint.session_id:
        named_session = find_session(workspace_id, viewpoint.session_id)
        if named_session is None:
            raise _not_found_error("session")
        session = named_session
    snapshot = read_session_snapshot(session)
    return _with_intent(snapshot, viewpoint.intent_id) if viewpoint.intent_id else snapshot


def read_session_snapshot(session: AgentSession) -> SessionSnapshot:
    """Read the snapshot of a session and undo what reading may do: give a silent session its intent back."""
    with transaction.atomic():
        snapshot = read_snapshot(session)
        transaction.set_rollback(True)
    return snapshot


def find_or_build_session(workspace: Workspace, session_id: str, *, agent: str = "") -> AgentSession:
    """Return the recorded session; where it is gone, an unsaved one of that id."""
    session = find_session(workspace.pk, session_id)
    if session is not None:
        return session
    return AgentSession(
        workspace=workspace, session_id=session_id, agent_name=agent, last_seen_at=timezone.now()
    )


def render_explanation(explanation: Explanation, request: GateRequest) -> dict[str, Any]:
    """Render the gate's answer of a dry run, with the steps and the revisions that they rest on."""
    envelope = _render_envelope(explanation, request)
    steps = explanation.steps
    if explanation.decision.tool_class is ToolClass.HANDSHAKE:
        steps = tuple(_apply_handshake_answer(step, envelope) for step in steps)
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


def _apply_handshake_answer(step: Step, envelope: dict[str, Any]) -> Step:
    """Replace the skipped intent step of a handshake by the answer of the handshake's own rules."""
    if step.name != "Intent" or step.outcome != "skip":
        return step
    return replace(step, outcome=envelope["decision"], text=envelope["error"] or "")


def _render_envelope(explanation: Explanation, request: GateRequest) -> dict[str, Any]:
    decision, snapshot = explanation.decision, explanation.snapshot
    allowed = decision.verdict is Verdict.ALLOW
    if decision.tool_class is ToolClass.HANDSHAKE and allowed:
        return preview_handshake(snapshot, request)
    answered, would_be = enforce(decision, snapshot.core.policy)
    state = snapshot.core.state
    if state is SessionState.REQUEST and allowed and decision.tool_class is ToolClass.SAFE:
        state = SessionState.REASONING
    body = render_decision(decision, answered, session_id=snapshot.session.session_id, state=state)
    override = snapshot.overrides[decision.grant_id] if decision.grant_id else None
    return body | {"would_be": would_be, "override": override}


def _with_intent(snapshot: SessionSnapshot, intent_id: str) -> SessionSnapshot:
    """Return the snapshot as if the session had selected the intent, which starts a pending one."""
    row = find_intent(snapshot.session.workspace_id, intent_id)
    if row is None:
        raise _not_found_error("intent")
    intent = to_core_intent(row)
    if intent.status is IntentStatus.PENDING:
        intent = replace(intent, status=IntentStatus.IN_PROGRESS)
    core = replace(
        snapshot.core,
        state=SessionState.ACTION,
        selected_intent_id=row.intent_id,
        intent=intent,
        intent_held_by_other=False,
    )
    return replace(snapshot, core=core)


def _not_found_error(noun: str) -> NotFoundError:
    return NotFoundError(f"There is no such {noun} in this workspace.", reason="not_found")
