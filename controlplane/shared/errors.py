"""Errors that services raise, with messages for the caller.

A service knows no HTTP status. REST, pages, MCP and hooks each map these classes to an answer of their own
(`controlplane.api.errors.STATUS_CODES` for REST).
"""

from __future__ import annotations

from typing import Any


class DomainError(Exception):
    """Refuse a request.

    `error` says what was wrong and what to do next. `error_type` is a word that programs rely on.
    `details` are further fields for a machine-readable answer.
    """

    error_type = "INVALID_INPUT"

    def __init__(self, error: str, *, error_type: str = "", **details: Any) -> None:
        super().__init__(error)
        self.error = error
        self.error_type = error_type or type(self).error_type
        self.details = details


class InvalidInputError(DomainError):
    """The input is malformed or breaks a rule of its fields."""


class UnauthenticatedError(DomainError):
    """The caller's credentials are unknown or no longer valid."""

    error_type = "UNAUTHENTICATED"


class NotPermittedError(DomainError):
    """The caller is known and may not do this."""

    error_type = "PERMISSION_DENIED"


class NotFoundError(DomainError):
    """The object does not exist in the caller's workspace."""

    error_type = "NOT_FOUND"


class ConflictError(DomainError):
    """The object's state does not allow this, or somebody else changed it first."""

    error_type = "CONFLICT"


class VersionMismatchError(DomainError):
    """The caller's version of the object is not the current one."""

    error_type = "VERSION_CONFLICT"


class UnavailableError(DomainError):
    """The server cannot do this now; a later attempt may succeed."""

    error_type = "UNAVAILABLE"
