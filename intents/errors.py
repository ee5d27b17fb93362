"""Domain errors of the registry, its file, the policy and `.intentignore`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from controlplane.policy.model import IntentStatus
from controlplane.policy.rules.policy_document import InvalidPolicyError
from controlplane.shared.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    UnavailableError,
    VersionMismatchError,
)
from intents.file_format.report import ValidationReport
from intents.statuses import ALLOWED_MOVES


class InvalidReportError(InvalidInputError):
    """A document has errors; nothing was changed.

    `error` and `error_type` are those of the report's first error, `details` hold the complete report, and
    `str()` joins the messages of all errors.
    """

    def __init__(self, report: ValidationReport, **details: Any) -> None:
        first = report.errors[0]
        error = f"Line {first.line}: {first.message}" if first.line else first.message
        super().__init__(error, error_type=first.type.value, **report.to_json(), **details)
        self.report = report

    def __str__(self) -> str:
        return " ".join(diagnostic.message for diagnostic in self.report.errors)


class InvalidIntentError(InvalidReportError):
    """The intent would not be valid."""


class InvalidRegistryFileError(InvalidReportError):
    """The `active_intents.yaml` is not valid."""


class IntentNotFoundError(NotFoundError):
    """No intent of this id is registered in the workspace."""

    def __init__(self, intent_id: str) -> None:
        super().__init__(f"There is no intent {intent_id} in this workspace.")


class IntentExistsError(ConflictError):
    """An intent of this id is registered already."""

    error_type = "DUPLICATE_ID"

    def __init__(self, intent_id: Any) -> None:
        super().__init__(f"{intent_id} is registered already.")


class VersionConflictError(VersionMismatchError):
    """Somebody changed the intent since the caller read it; `current` is its version now."""

    def __init__(self, current: int) -> None:
        super().__init__(f"Someone else changed the intent: its version is now {current}.", version=current)
        self.current = current


class StatusMoveRefusedError(ConflictError):
    """No move leads from the intent's status to that one."""

    error_type = "STATUS_MOVE_REFUSED"

    def __init__(self, intent_id: str, current: IntentStatus, target: IntentStatus) -> None:
        allowed = ", ".join(sorted(ALLOWED_MOVES[current])) or "nowhere, it is final"
        super().__init__(f"{intent_id} is {current}; it cannot become {target}. Allowed: {allowed}.")


class ProposalRefusedError(ConflictError):
    """An agent's proposal was not registered."""

    error_type = "PROPOSAL_REFUSED"


class InvalidIntentignoreError(InvalidInputError):
    """The bytes cannot be stored as `.intentignore`."""


class UnreadableIgnoreFileError(UnavailableError):
    """An `.intentignore` file on disk cannot be read, so nobody knows what it forbids."""

    error_type = "HOOK_BLOCKED"

    def __init__(self, path: str, problem: str) -> None:
        error = f"{path} cannot be used, so every call is denied. {problem} Repair or remove the file."
        super().__init__(error, reason="internal_error")


class InvalidSyncStateError(InvalidInputError):
    """The file that remembers the last sync cannot be used."""


class PolicyRejectedError(InvalidInputError):
    """A policy document has errors; nothing was changed. `problems` in the details names each."""

    error_type = "INVALID_POLICY"

    def __init__(self, cause: InvalidPolicyError) -> None:
        super().__init__(str(cause), problems=[asdict(problem) for problem in cause.problems])
