"""Serve contained runs over REST: what a command changed, and what may land."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api.errors import ErrorAnswer
from controlplane.api.views import WorkspaceView
from sessions.api_schema import responses_for
from sessions.runs import schema
from sessions.runs.landing import land_held, note_refused
from sessions.runs.report import find_run, report_effects

NOT_FOUND = {404: OpenApiResponse(ErrorAnswer, description="No such run in this workspace.")}
CONFLICT = {409: OpenApiResponse(ErrorAnswer, description="The run is in another state.")}
DESCRIPTION = (
    "A client that runs a command contained sends what changed. Each path goes through steps 6 to 8 of the "
    "decision: what is allowed lands, what asks is held on the client's disk and becomes one approval, what "
    "is denied is thrown away. The same report again gets the same answer."
)


class RunEffectsView(WorkspaceView):
    required_role = "agent"

    @extend_schema(
        operation_id="runs_report_effects", summary="Report what a contained run changed",
        description=DESCRIPTION, request=schema.RunReportBody,
        responses={**responses_for(200, schema.RunAnswer, 415), **NOT_FOUND, **CONFLICT},
    )  # fmt: skip
    def post(self, request: Request, run_id: str) -> Response:
        run = find_run(self.bearer, run_id)
        body = schema.RunReportBody(data=request.data)
        body.is_valid(raise_exception=True)
        return Response(report_effects(self.bearer, run, body.validated_data))


class LandRunView(WorkspaceView):
    required_role = "agent"

    @extend_schema(
        operation_id="runs_land", summary="Ask what of a run may land by now",
        description=(
            "Once a person has approved what was held, it is in `land`, and recorded as changed. A client "
            "that could not land a file says so here; it is recorded and shown."
        ),
        request=schema.LandBody, responses={**responses_for(200, schema.RunAnswer), **NOT_FOUND, **CONFLICT},
    )  # fmt: skip
    def post(self, request: Request, run_id: str) -> Response:
        run, body = find_run(self.bearer, run_id), schema.LandBody(data=request.data)
        body.is_valid(raise_exception=True)
        note_refused(self.bearer, run, body.validated_data.get("refused", []))
        return Response(land_held(self.bearer, run))
