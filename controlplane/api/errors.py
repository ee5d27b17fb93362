"""Errors of the REST API: one shape, `{"status": "error", "error_type", "error", …}`."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, InterfaceError
from django.http import Http404, HttpRequest, HttpResponseBase, JsonResponse
from django.views.defaults import page_not_found
from rest_framework import exceptions, serializers, status
from rest_framework.response import Response

from controlplane.shared.database.errors import (
    NO_ANSWER,
    RETRY_SECONDS,
    describe_database_error,
    is_unavailable,
)
from controlplane.shared.errors import (
    ConflictError,
    DomainError,
    InvalidInputError,
    NotFoundError,
    NotPermittedError,
    UnauthenticatedError,
    UnavailableError,
    VersionMismatchError,
)
from controlplane.shared.metrics import DATABASE_ERRORS

log = logging.getLogger(__name__)


STATUS_CODES: dict[type[DomainError], int] = {
    InvalidInputError: status.HTTP_400_BAD_REQUEST,
    UnauthenticatedError: status.HTTP_401_UNAUTHORIZED,
    NotPermittedError: status.HTTP_403_FORBIDDEN,
    NotFoundError: status.HTTP_404_NOT_FOUND,
    ConflictError: status.HTTP_409_CONFLICT,
    VersionMismatchError: status.HTTP_412_PRECONDITION_FAILED,
    UnavailableError: status.HTTP_503_SERVICE_UNAVAILABLE,
}


class ErrorAnswer(serializers.Serializer[Any]):
    """The body of every answer with a status of 400 or more."""

    status = serializers.ChoiceField(choices=["error"])
    error_type = serializers.CharField(help_text="A word that programs may rely on.")
    error = serializers.CharField(help_text="What was wrong, where, and what to do next.")
    fields = serializers.DictField(  # type: ignore[assignment]  # declared, not the property
        required=False, help_text="Problems by field, where the request body had any."
    )


class ApiError(Exception):
    """Answer a REST request with `status_code`. Only views raise it; services raise a `DomainError`."""

    def __init__(self, status_code: int, error_type: str, error: str, **extra: Any) -> None:
        super().__init__(error)
        self.status_code = status_code
        self.error_type = error_type
        self.error = error
        self.extra = extra


def get_status_code(error: DomainError) -> int:
    """Return the HTTP status for the nearest class of `error` that `STATUS_CODES` knows."""
    known = (STATUS_CODES[kind] for kind in type(error).__mro__ if kind in STATUS_CODES)
    return next(known, status.HTTP_400_BAD_REQUEST)


def error_body(error_type: str, error: str, **extra: Any) -> dict[str, Any]:
    return {"status": "error", "error_type": error_type, "error": error, **extra}


@dataclass(frozen=True, slots=True)
class ErrorReply:
    status_code: int
    error_type: str
    error: str
    extra: dict[str, Any]
    headers: dict[str, str]


def handle_exception(error: Exception, context: dict[str, Any]) -> Response | None:
    """Handle exceptions for DRF. Unknown ones are logged and become a 500 without details."""
    shape = getattr(context.get("view"), "error_body", error_body)
    reply = describe_error(error)
    body = shape(reply.error_type, reply.error, **reply.extra)
    return Response(body, status=reply.status_code, headers=reply.headers)


def describe_error(error: Exception) -> ErrorReply:
    """Return how REST answers an exception. Unknown ones are logged."""
    status_code, error_type, text, extra = _describe(error)
    headers = {}
    if status_code == status.HTTP_401_UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    wait = getattr(error, "wait", None)  # of exceptions.Throttled
    if wait:
        headers["Retry-After"] = str(int(wait) + 1)
    elif status_code == status.HTTP_503_SERVICE_UNAVAILABLE:
        headers["Retry-After"] = str(RETRY_SECONDS)
    return ErrorReply(status_code, error_type, text, extra, headers)


def _describe(error: Exception) -> tuple[int, str, str, dict[str, Any]]:
    if isinstance(error, ApiError):
        return error.status_code, error.error_type, error.error, error.extra
    if isinstance(error, DomainError):
        return get_status_code(error), error.error_type, error.error, error.details
    if isinstance(error, exceptions.ValidationError):
        return 400, "INVALID_INPUT", _sentence(error.detail), {"fields": error.get_full_details()}
    if isinstance(error, exceptions.NotAuthenticated):
        return 401, "UNAUTHENTICATED", "Send a token: Authorization: Bearer icp_…", {}
    if isinstance(error, exceptions.APIException):
        return error.status_code, str(error.default_code).upper(), str(error.detail), {}
    if isinstance(error, Http404):
        return 404, "NOT_FOUND", "Not found.", {}
    if isinstance(error, PermissionDenied):
        return 403, "PERMISSION_DENIED", "Not permitted.", {}
    if isinstance(error, DatabaseError | InterfaceError) and is_unavailable(error):
        text = describe_database_error(error)
        DATABASE_ERRORS.inc()
        log.error("request failed: %s", text)  # no traceback: an outage would write one for each request
        return 503, "UNAVAILABLE", text, {}
    log.error("request failed", exc_info=error)
    if isinstance(error, DatabaseError):
        return 503, "UNAVAILABLE", NO_ANSWER, {}
    return 500, "INTERNAL_ERROR", "The server failed on this request. It has been logged.", {}


def _sentence(detail: Any) -> str:
    if isinstance(detail, dict):
        return "; ".join(f"{name}: {_sentence(value)}" for name, value in detail.items())
    if isinstance(detail, list):
        return " ".join(_sentence(value) for value in detail)
    return str(detail)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Answer 404 in JSON below `/api/`, with the page elsewhere."""
    if request.path.startswith("/api/"):
        return JsonResponse(error_body("NOT_FOUND", f"Not found: {request.path}."), status=404)
    return page_not_found(request, exception)
