"""The gate's answer, field by field (contract 3)."""

from __future__ import annotations

from typing import Any

from controlplane.policy.model import ACTION_HINTS, Decision, ErrorType, SessionState, Verdict

FAILED = "The tool execution failed"

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
    "approval": None,
    "override": None,
    "context": None,
    "would_be": None,
}


def answer_of(
    decision: Decision, answered: Verdict, *, session_id: str, state: SessionState | str
) -> dict[str, Any]:
    """`answered` differs from the decision's verdict where policy does not enforce."""
    answer = EMPTY_ANSWER | {
        "decision": answered.value,
        "session_id": session_id,
        "state": str(state),
        "status": "ok" if answered is Verdict.ALLOW else "error",
        "classification": decision.tool_class.value.lower(),
        "targets": [target.path for target in decision.targets],
        "intent_id": decision.intent_id,
    }
    if decision.conflicts:
        answer["conflicts"] = conflicts_of(decision)
    if answered is not Verdict.ALLOW:
        answer |= failure(decision.error_type, decision.reason, decision.error)
    return answer


def conflicts_of(decision: Decision) -> list[dict[str, str]]:
    """Who else works on a target; the field is there only where somebody does."""
    return [{"path": one.path, "reason": str(one.reason), "by": one.by} for one in decision.conflicts]


def failure(error_type: ErrorType | None, reason: str | None, error: str | None) -> dict[str, Any]:
    return {
        "message": FAILED,
        "error": error,
        "error_type": error_type.value if error_type else None,
        "reason": str(reason) if reason else None,
        "recoverable": reason not in UNRECOVERABLE,
        "action_hint": ACTION_HINTS[error_type] if error_type else None,
    }


# In this session nothing the agent does can change the answer.
UNRECOVERABLE = frozenset({"ended", "frozen", "already_selected"})


def refusal_body(error_type: str, error: str, **extra: Any) -> dict[str, Any]:
    """The same envelope for 400, 401, 403 and 500: a careless client still fails closed."""
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
