"""`POST /api/v1/gate`: parse, check, answer; no rules here."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api.authentication import TokenAuthentication
from controlplane.api.views import WorkspaceView
from controlplane.shared.metrics import observe_decision
from controlplane.shared.steps import run_steps
from controlplane.shared.tokens import Bearer, find_cached_bearer
from sessions.errors import GateInputError
from sessions.gate.answers import render_refusal
from sessions.gate.check import Steps, check_steps
from sessions.gate.limits import MAX_BODY_BYTES, TOO_LONG
from sessions.gate.record import record_alone
from sessions.gate.request import GateBody, parse_gate_request
from sessions.gate.schema import GateAnswer, GateRefusal
from sessions.live.hold_open import HOLD_HEADER, RESUMED

REFUSALS = {
    400: OpenApiResponse(
        GateRefusal, description="Malformed: nothing was decided, so the tool must not run."
    ),
    401: OpenApiResponse(GateRefusal, description="No token, or one that is unknown or revoked."),
    403: OpenApiResponse(GateRefusal, description="The session belongs to another token."),
    415: OpenApiResponse(GateRefusal, description="The body is not application/json."),
    429: OpenApiResponse(GateRefusal, description="Too many requests with this token; see Retry-After."),
    503: OpenApiResponse(GateRefusal, description="The decision could not be recorded, so it is a denial."),
}
EXAMPLE = {
    "session_id": "3f1c",
    "tool": "Write",
    "input": {"file_path": "src/auth/login.ts", "content": "…"},
    "cwd": "/home/ada/acme",
    "tool_use_id": "toolu_01",
    "wait_seconds": 50,
}


@dataclass(frozen=True, slots=True)
class Reply:
    """The body of a 200, with the headers that go with it."""

    body: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)


def answer_steps(bearer: Bearer, data: Any, size: int, resumed: str = "") -> Steps[Reply]:
    """Answer a decoded body of `size` bytes. `resumed` is the approval that the request was held for."""
    started = time.perf_counter()
    gate_request = parse_gate_request(data, size)
    if resumed:
        gate_request = replace(gate_request, resumed=resumed)
    answer = yield from check_steps(bearer, gate_request)
    observe_decision(answer["decision"], time.perf_counter() - started)
    return Reply(answer, _hold_headers(answer, gate_request.wait_seconds, resumed))


def _hold_headers(answer: dict[str, Any], wait_seconds: float, resumed: str) -> dict[str, str]:
    if answer["decision"] != "ask" or not answer["approval"] or not wait_seconds or resumed:
        return {}
    return {HOLD_HEADER: f"{answer['approval']['id']};{wait_seconds}"}


class GateView(WorkspaceView):
    required_role = "agent"
    error_body = staticmethod(render_refusal)

    def get_authenticators(self) -> list[BaseAuthentication]:
        """Authenticate from the cache (0 queries): the append checks that the token was not revoked."""
        return [TokenAuthentication(find_cached_bearer)]

    @extend_schema(
        operation_id="gate",
        summary="Ask before a tool runs",
        description="Run the tool only on `allow`. The record is committed before the answer leaves.",
        request=GateBody,
        responses={200: GateAnswer, **REFUSALS},
        examples=[OpenApiExample("A write", EXAMPLE, request_only=True)],
    )
    def post(self, request: Request) -> Response:
        size = int(request.META.get("CONTENT_LENGTH") or 0)
        if size > MAX_BODY_BYTES:
            raise GateInputError(TOO_LONG)
        steps = answer_steps(self.bearer, request.data, size, request.META.get(RESUMED, ""))
        reply = run_steps(steps, record_alone)
        return Response(reply.body, headers=reply.headers)
