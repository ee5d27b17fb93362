"""Errors that services of sessions and of the gate raise. REST, hooks, pages and MCP map them."""

from __future__ import annotations

from controlplane.shared.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    NotPermittedError,
    UnauthenticatedError,
    UnavailableError,
)


class SessionNotFoundError(NotFoundError):
    """No session of this id is in the workspace."""


class ForeignSessionError(NotPermittedError):
    """The session belongs to another token."""


class SessionEndedError(ConflictError):
    """The session has ended, so it can change nothing any more."""

    error_type = "SESSION_ENDED"

    def __init__(self) -> None:
        super().__init__("This session has ended. Start a new session.", reason="ended")


class IntentNotActiveError(ConflictError):
    """The session has no intent, or one that is not in progress or that another session holds."""

    error_type = "MISSING_OR_INVALID_INTENT"

    def __init__(self) -> None:
        super().__init__("You must cite a valid active Intent ID. Call select_active_intent first.")


class GateInputError(InvalidInputError):
    """The body of a gate or hook request is malformed, so nothing was decided."""

    error_type = "HOOK_BLOCKED"

    def __init__(self, error: str) -> None:
        super().__init__(error, reason="invalid_input")


class GateBusyError(UnavailableError):
    """Each snapshot was out of date before its decision could be recorded."""

    error_type = "HOOK_BLOCKED"

    def __init__(self) -> None:
        error = "The session kept changing while this call was judged. Send it again."
        super().__init__(error, reason="internal_error")


class TokenRevokedError(UnauthenticatedError):
    """The token was valid in the gate's memory, but no longer in the database."""

    def __init__(self) -> None:
        super().__init__("This token is unknown or was revoked.", reason="unauthenticated")
