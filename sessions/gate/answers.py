"""Render the gate's answer, field by field (contract 3)."""

from __future__ import annotations

from typing import Any

from controlplane.policy.model import ACTION_HINTS, Decision, ErrorType, Reason, SessionState, Verdict
from controlplane.policy.paths.canonical import to_printable
from sessions.approvals.effects import render_effects
from sessions.approvals.representations import represent_approval_briefly
from sessions.gate.outcome import GateOutcome

FAILED = "The tool execution failed"
# Reasons that nothing the agent does in this session can change.
UNRECOVERABLE_REASONS = frozenset({"ended", "frozen", "stopped", "wrong_root", "already_selected"})

EMPTY_ANSWER: dict[str, Any] = {
    "decision": "deny",
    "decision_id": None,
    "session_id": None,
    "state": None,
    "status": "error",
    "message": None,
    "error": None,
    "error_type": None,
    "reason": None,
    "recoverable": None,
    "action_hint": None,
    "classification": None,
    "targets": [],
    "intent_id": None,
    "effects": [],
    "approval": None,
    "override": None,
    "containment": None,
    "context": None,
    "would_be": None,
}


def render_outcome(outcome: GateOutcome) -> dict[str, Any]:
    """Render a decided request, recorded or not."""
    decision, snapshot = outcome.decision, outcome.snapshot
    answer = render_decision(
        decision, outcome.answered, session_id=snapshot.session.session_id, state=outcome.state
    )
    answer |= {"decision_id": outcome.decision_id, "would_be": outcome.would_be}
    if outcome.content_hashes:  # left out where none is known
        answer["content_hashes"] = dict(outcome.content_hashes)
        files = outcome.content_hashes.items()
        lines = [f"[content_hash: {known}] {to_printable(path)}" for path, known in files]
        answer["context"] = "\n".join(lines)
    if outcome.approval is not None:
        answer["approval"] = represent_approval_briefly(outcome.approval)
    if outcome.run is not None:
        answer["containment"] = outcome.run.terms
    if decision.grant_id:
        answer["override"] = snapshot.overrides[decision.grant_id]
    return answer


def render_decision(
    decision: Decision, answered: Verdict, *, session_id: str, state: SessionState | str
) -> dict[str, Any]:
    """Render a decision. `answered` differs from its verdict where policy does not enforce."""
    answer = EMPTY_ANSWER | {
        "decision": answered.value,
        "session_id": session_id,
        "state": str(state),
        "status": "ok" if answered is Verdict.ALLOW else "error",
        "classification": decision.tool_class.value.lower(),
        "targets": [target.path for target in decision.targets],
        "intent_id": decision.intent_id,
        "effects": render_effects(decision.effects),
    }
    if decision.conflicts:  # the field is left out where nobody else works on a target
        answer["conflicts"] = render_conflicts(decision)
    if answered is not Verdict.ALLOW:
        answer |= _render_failure(decision.error_type, decision.reason, decision.error)
    return answer


def render_conflicts(decision: Decision) -> list[dict[str, str]]:
    """List who else works on which target."""
    return [
        {"path": conflict.path, "reason": str(conflict.reason), "by": conflict.by}
        for conflict in decision.conflicts
    ]


def _render_failure(error_type: ErrorType | None, reason: str | None, error: str | None) -> dict[str, Any]:
    return {
        "message": FAILED,
        "error": error,
        "error_type": error_type.value if error_type else None,
        "reason": str(reason) if reason else None,
        "recoverable": reason not in UNRECOVERABLE_REASONS,
        # An agent can do nothing about a stop.
        "action_hint": ACTION_HINTS[error_type] if error_type and reason != Reason.STOPPED else None,
    }


def render_refusal(error_type: str, error: str, **extra: Any) -> dict[str, Any]:
    """Render an error in the envelope of a denial, so that a client that reads no status fails closed."""
    known = error_type in ErrorType.__members__
    answer = EMPTY_ANSWER | {
        "message": FAILED,
        "error": error,
        "error_type": error_type if known else ErrorType.HOOK_BLOCKED.value,
        "reason": extra.pop("reason", None) or error_type.lower(),
        "recoverable": True,
        "action_hint": ACTION_HINTS[ErrorType(error_type) if known else ErrorType.HOOK_BLOCKED],
    }
    return answer | extra
