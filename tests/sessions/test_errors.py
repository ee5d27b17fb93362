"""Which HTTP status and body each domain error of sessions becomes at the REST edge."""

from __future__ import annotations

import pytest

from controlplane.api.errors import handle_exception
from sessions import errors

CASES = {
    "not_found": (errors.SessionNotFoundError("No."), 404, "NOT_FOUND", {}),
    "foreign": (errors.ForeignSessionError("No."), 403, "PERMISSION_DENIED", {}),
    "ended": (errors.SessionEndedError(), 409, "SESSION_ENDED", {"reason": "ended"}),
    "not_active": (errors.IntentNotActiveError(), 409, "MISSING_OR_INVALID_INTENT", {}),
    "input": (errors.GateInputError("No."), 400, "HOOK_BLOCKED", {"reason": "invalid_input"}),
    "busy": (errors.GateBusyError(), 503, "HOOK_BLOCKED", {"reason": "internal_error"}),
    "revoked": (errors.TokenRevokedError(), 401, "UNAUTHENTICATED", {"reason": "unauthenticated"}),
    "own_request": (errors.OwnRequestError(), 403, "PERMISSION_DENIED", {}),
    "decided": (
        errors.AlreadyDecidedError("No.", approval_status="REJECTED", decided_by="Rex"),
        409,
        "ALREADY_DECIDED",
        {"approval_status": "REJECTED", "decided_by": "Rex"},
    ),
    "extended": (errors.AlreadyExtendedError(), 409, "ALREADY_EXTENDED", {}),
    "grant": (errors.InvalidGrantError("No."), 400, "INVALID_INPUT", {}),
    "intent_gone": (errors.IntentGoneError("INT-001"), 409, "INTENT_GONE", {}),
    "intent_changed": (errors.IntentChangedError("No."), 409, "INTENT_CHANGED", {}),
    "lesson": (errors.LessonNotPossibleError("No."), 400, "INVALID_INPUT", {}),
}


@pytest.mark.parametrize(("error", "status", "error_type", "details"), CASES.values(), ids=CASES)
def test_an_error_has_one_answer(error, status, error_type, details):
    response = handle_exception(error, {})
    assert response.status_code == status
    text = {"status": "error", "error_type": error_type, "error": error.error}
    assert response.data == text | details
