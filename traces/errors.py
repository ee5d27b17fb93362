"""Errors that the services of traces raise."""

from __future__ import annotations

from controlplane.shared.errors import ConflictError, InvalidInputError, UnavailableError


class OutletError(InvalidInputError):
    """The settings of an outlet are not usable."""


class AnchorError(InvalidInputError):
    """A place is not usable as an anchor."""


class EvidenceError(InvalidInputError):
    """A bundle of evidence cannot be made."""


class RedactionError(InvalidInputError):
    """The entry's body must stay readable."""


class MutationFieldError(InvalidInputError):
    """A field of a reported mutation is missing or wrong."""

    error_type = "INVALID_FIELD"


class DuplicateIdError(ConflictError):
    """The id, or the tool call, was recorded before with other content."""

    error_type = "DUPLICATE_ID"


class NotProvableError(ConflictError):
    """What is stored contradicts the signed head."""

    error_type = "NOT_PROVABLE"


class AlreadyRetiredError(ConflictError):
    """The lesson is retired, maybe by somebody else just now."""

    error_type = "ALREADY_RETIRED"


class NotRetiredError(ConflictError):
    """The lesson is in force, so there is no retirement to take back."""

    error_type = "NOT_RETIRED"


class RepositoryError(InvalidInputError):
    """git could not read or write the repository; the message is its output."""


class WorkerStoppedError(UnavailableError):
    """The worker process ended before the file did."""
