"""`POST /api/v1/explain`: the gate's answer to a call, with every step, and nothing recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from pydantic import BaseModel, Field
from rest_framework import serializers as s
from rest_framework.response import Response

from controlplane.api.fields import IntField, StrField
from controlplane.api.views import WorkspaceView
from sessions.api_schema import Body
from sessions.errors import GateInputError
from sessions.explain import steps
from sessions.explain.steps import Viewpoint
from sessions.gate.answers import render_refusal
from sessions.gate.api import REFUSALS
from sessions.gate.limits import MAX_BODY_BYTES, MAX_ID_LENGTH, TOO_LONG
from sessions.gate.request import STRICT, GateBody, GateRequest, to_gate_request, validate_body
from sessions.gate.schema import GateAnswer, GateRefusal

if TYPE_CHECKING:
    from rest_framework.request import Request


class ViewpointBody(BaseModel):
    model_config = STRICT

    intent_id: Annotated[
        str | None, Field(max_length=MAX_ID_LENGTH, description="As if it had been taken.")
    ] = None
    session_id: Annotated[str | None, Field(max_length=MAX_ID_LENGTH, description="As in this session.")] = (
        None
    )


class StepAnswer(Body):
    number = IntField(help_text="The step of the decision, 1 to 10.")
    name = StrField()
    saw = StrField(help_text="The values that the step looked at.")
    outcome = s.ChoiceField(choices=["pass", "skip", "allow", "ask", "deny"])
    text = StrField(help_text="Why, where it stopped the call.")


class RevisionsAnswer(Body):
    workspace = IntField()
    session = IntField(allow_null=True)
    intent = IntField(allow_null=True)


class UnknownPart(Body):
    text = StrField()
    why = StrField()
    start = IntField(allow_null=True, help_text="Offset into the command, in code points.")
    end = IntField(allow_null=True)


class ExplainBody(GateBody):
    """The gate's body. `wait_seconds` and `dry_run` are taken and have no effect."""

    viewpoint: Annotated[ViewpointBody | None, Field(alias="as")] = None


class ExplainAnswer(GateAnswer):
    steps = StepAnswer(many=True)
    revisions = RevisionsAnswer(help_text="What the decision was made upon.")
    nearest_pattern = StrField(allow_null=True, help_text="The pattern of the scope that comes closest.")
    unknown = UnknownPart(many=True)


EXAMPLE = {
    "session_id": "3f1c",
    "tool": "Bash",
    "input": {"command": "echo done > docs/notes.md"},
    "as": {"intent_id": "INT-001"},
}
NOT_FOUND = OpenApiResponse(GateRefusal, description="`as` names a session or intent that is not here.")


class ExplainView(WorkspaceView):
    required_role = "agent"
    error_body = staticmethod(render_refusal)

    @extend_schema(
        operation_id="explain",
        summary="Explain what the gate would answer, step by step",
        description="An agent asks for its own sessions; `as` needs a reviewer's token. Records nothing.",
        request=ExplainBody,
        responses={200: ExplainAnswer, **REFUSALS, 404: NOT_FOUND},
        examples=[OpenApiExample("A redirect, as if INT-001 were taken", EXAMPLE, request_only=True)],
    )
    def post(self, request: Request) -> Response:
        size = int(request.META.get("CONTENT_LENGTH") or 0)
        if size > MAX_BODY_BYTES:
            raise GateInputError(TOO_LONG)
        requested, viewpoint = parse_body(request.data, size)
        snapshot = steps.read_snapshot_for_token(self.bearer, requested, viewpoint)
        return Response(steps.render_explanation(steps.explain_call(requested.call, snapshot), requested))


def parse_body(data: Any, size: int) -> tuple[GateRequest, Viewpoint | None]:
    """Parse the gate's body and its `as`. Raise GateInputError."""
    body = validate_body(ExplainBody, data, size)
    chosen = body.viewpoint or ViewpointBody()
    viewpoint = Viewpoint(session_id=chosen.session_id or "", intent_id=chosen.intent_id or "")
    return to_gate_request(body), viewpoint if chosen.session_id or chosen.intent_id else None
