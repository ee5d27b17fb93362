"""`POST /api/v1/gate`: parse, check, answer; no rules here."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api.authentication import TokenAuthentication
from controlplane.api.views import WorkspaceView
from controlplane.shared.metrics import observe_decision
from controlplane.shared.tokens import find_cached_bearer
from sessions.errors import GateInputError
from sessions.gate import check
from sessions.gate.answers import render_refusal
from sessions.gate.limits import MAX_BODY_BYTES, TOO_LONG
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
        began = time.perf_counter()
        size = int(request.META.get("CONTENT_LENGTH") or 0)
        if size > MAX_BODY_BYTES:
            raise GateInputError(TOO_LONG)
        gate_request = parse_gate_request(request.data, size)
        resumed = request.META.get(RESUMED, "")
        if resumed:
            gate_request = replace(gate_request, resumed=resumed)
        answer = check.check(self.bearer, gate_request)
        observe_decision(answer["decision"], time.perf_counter() - began)
        return Response(answer, headers=self._hold_headers(answer, gate_request.wait_seconds))

    def _hold_headers(self, answer: dict[str, Any], wait_seconds: float) -> dict[str, str]:
        was_held = RESUMED in self.request.META
        if answer["decision"] != "ask" or not answer["approval"] or not wait_seconds or was_held:
            return {}
        return {HOLD_HEADER: f"{answer['approval']['id']};{wait_seconds}"}
