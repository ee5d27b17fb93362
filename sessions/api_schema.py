"""Parts of the OpenAPI description that several endpoints of sessions share."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers as s

from controlplane.api.errors import ErrorAnswer
from controlplane.api.fields import StrField
from controlplane.policy.model import SessionState

Body = s.Serializer[Any]
STATES = [state.value for state in SessionState]

ERRORS = {
    400: OpenApiResponse(ErrorAnswer, description="The request is malformed; `error` says where."),
    401: OpenApiResponse(ErrorAnswer, description="No token, or one that is unknown or revoked."),
    403: OpenApiResponse(ErrorAnswer, description="The token's role, or its owner, does not permit that."),
    404: OpenApiResponse(ErrorAnswer, description="No such session in this workspace."),
    409: OpenApiResponse(ErrorAnswer, description="The session or its intent is in another state."),
    415: OpenApiResponse(ErrorAnswer, description="The body is not application/json."),
    429: OpenApiResponse(ErrorAnswer, description="Too many requests with this token; see Retry-After."),
    503: OpenApiResponse(ErrorAnswer, description="The database does not answer."),
}


def responses_for(status: int, body: Any, *errors: int) -> dict[int, Any]:
    """Document an operation: its one success, the given errors and those that any operation has."""
    return {status: body, **{code: ERRORS[code] for code in sorted({400, 401, 403, 429, 503, *errors})}}


class AgentBody(Body):
    name = StrField(required=False, allow_blank=True, max_length=100, help_text="claude-code, codex, …")
    version = StrField(required=False, allow_blank=True, max_length=100)
    model = StrField(required=False, allow_blank=True, max_length=200)
    hook = StrField(required=False, allow_blank=True, max_length=100, help_text="Version of the hook client.")
