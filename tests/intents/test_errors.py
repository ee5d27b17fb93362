"""Domain errors of intents: the HTTP status and `error_type` that REST answers."""

from __future__ import annotations

import pytest

from controlplane.api.errors import get_status_code
from controlplane.policy.model import IntentStatus
from controlplane.policy.rules import policy_document
from intents import errors
from intents.file_format.report import Diagnostic, DiagnosticType, ValidationReport

REPORT = ValidationReport(
    (
        Diagnostic(DiagnosticType.EMPTY_SCOPE, "It needs a pattern.", "INT-001", "owned_scope", 3),
        Diagnostic(DiagnosticType.INVALID_STATUS, "It needs a status."),
    )
)


def policy_error():
    try:
        policy_document.parse({"enforcement": "on"})
    except policy_document.InvalidPolicyError as error:
        return errors.PolicyRejectedError(error)


@pytest.mark.parametrize(
    ("error", "status", "error_type"),
    [
        (errors.InvalidIntentError(REPORT), 400, "EMPTY_SCOPE"),
        (errors.InvalidRegistryFileError(REPORT), 400, "EMPTY_SCOPE"),
        (errors.IntentNotFoundError("INT-001"), 404, "NOT_FOUND"),
        (errors.IntentExistsError("INT-001"), 409, "DUPLICATE_ID"),
        (errors.VersionConflictError(3), 412, "VERSION_CONFLICT"),
        (
            errors.StatusMoveRefusedError("INT-001", IntentStatus.COMPLETED, IntentStatus.PENDING),
            409,
            "STATUS_MOVE_REFUSED",
        ),
        (errors.ProposalRefusedError("Full."), 409, "PROPOSAL_REFUSED"),
        (errors.InvalidIntentignoreError("Line 1 is not UTF-8."), 400, "INVALID_INPUT"),
        (policy_error(), 400, "INVALID_POLICY"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_an_error_has_its_status_and_type(error, status, error_type):
    assert (get_status_code(error), error.error_type) == (status, error_type)


def test_an_invalid_report_answers_its_first_error_and_comes_along():
    error = errors.InvalidRegistryFileError(REPORT, mode="merge")
    assert error.error == "Line 3: It needs a pattern."
    assert str(error) == "It needs a pattern. It needs a status."
    assert error.details == {**REPORT.to_json(), "mode": "merge"}


def test_the_current_version_comes_along():
    assert errors.VersionConflictError(3).details == {"version": 3}
