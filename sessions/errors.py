"""Errors that services of sessions and of the gate raise. REST, hooks, pages and MCP map them."""

from __future__ import annotations

from controlplane.policy import messages
from controlplane.policy.model import ErrorType, Reason
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


class StoppedError(ConflictError):
    """An admin stopped the session, its agent or the workspace: nothing goes on until it is lifted."""

    error_type = "SESSION_ENDED"

    def __init__(self, detail: str) -> None:
        error = messages.render((ErrorType.SESSION_ENDED, Reason.STOPPED), detail=detail)
        super().__init__(error, reason=Reason.STOPPED.value)


class AlreadyStoppedError(ConflictError):
    """The same subject stands still already."""

    error_type = "ALREADY_STOPPED"

    def __init__(self) -> None:
        super().__init__("This is stopped already. Lift that stop first to change its reason.")


class StopNotFoundError(NotFoundError):
    """No stop of this id holds in the workspace; somebody may have lifted it."""

    def __init__(self) -> None:
        super().__init__("No such stop holds; another admin may have lifted it.")


class IntentNotActiveError(ConflictError):
    """The session has no intent, or one that is not in progress or that another session holds."""

    error_type = "MISSING_OR_INVALID_INTENT"

    def __init__(self) -> None:
        super().__init__("You must cite a valid active Intent ID. Call select_active_intent first.")


class RunNotFoundError(NotFoundError):
    """No contained run of this id is in the workspace."""


class RunReportedError(ConflictError):
    """A run is reported once; this report differs from the one that was judged."""

    error_type = "RUN_REPORTED"

    def __init__(self, run_id: str) -> None:
        super().__init__(f"The effects of run {run_id} were reported before, and they were others.")


class RunNotReportedError(ConflictError):
    """What a run changed is not known yet, so nothing of it may land."""

    error_type = "RUN_NOT_REPORTED"

    def __init__(self, run_id: str) -> None:
        super().__init__(f"The effects of run {run_id} were not reported yet: send them first.")


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


class OwnRequestError(NotPermittedError):
    """The decider's own session made the request."""

    def __init__(self) -> None:
        super().__init__("You can't decide on your own session's request.")


class AlreadyDecidedError(ConflictError):
    """The approval has ended: decided, expired or cancelled. The details say how and by whom."""

    error_type = "ALREADY_DECIDED"

    def __init__(self, error: str, *, approval_status: str, decided_by: str) -> None:
        super().__init__(error, approval_status=approval_status, decided_by=decided_by)


class NotOpenedError(ConflictError):
    """A batch would approve what cannot be undone, and the decider has not looked at it."""

    error_type = "NOT_OPENED"

    def __init__(self) -> None:
        super().__init__("This cannot be undone. Open its card before you approve it.")


class AlreadyExtendedError(ConflictError):
    """An approval's deadline moves once only."""

    error_type = "ALREADY_EXTENDED"

    def __init__(self) -> None:
        super().__init__("This approval was already extended by five minutes.")


class InvalidGrantError(InvalidInputError):
    """The approval cannot give this kind of grant, or not with these patterns or minutes."""


class IntentGoneError(ConflictError):
    """The approval's intent has left the registry since it was requested."""

    error_type = "INTENT_GONE"

    def __init__(self, intent_id: str) -> None:
        super().__init__(f"{intent_id} is no longer in the registry.")


class IntentChangedError(ConflictError):
    """The registry refuses what the approval would change of its intent."""

    error_type = "INTENT_CHANGED"


class LessonNotPossibleError(InvalidInputError):
    """A decision gives nothing that a lesson could hold."""
