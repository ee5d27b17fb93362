"""REST for stops: what stands still, stop at once, start again."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api.errors import ErrorAnswer
from controlplane.api.pagination import PAGE_PARAMETERS, paginate
from controlplane.api.views import WorkspaceView
from controlplane.models import EmergencyStop
from sessions.api_schema import responses_for
from sessions.stops import schema
from sessions.stops.store import StopActor, lift, stop

ALREADY = {409: OpenApiResponse(ErrorAnswer, description="`ALREADY_STOPPED`: it stands still already.")}
NOT_FOUND = {404: OpenApiResponse(ErrorAnswer, description="No stop of this id holds in the workspace.")}


class StopViewBase(WorkspaceView):
    @property
    def stop_actor(self) -> StopActor:
        return StopActor(self.bearer.name, self.actor)


class StopsView(StopViewBase):
    required_role = {"GET": "reviewer", "POST": "admin"}

    @extend_schema(
        operation_id="stops_list", summary="Emergency stops, newest first",
        parameters=PAGE_PARAMETERS, responses=responses_for(200, schema.StopsAnswer),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        page = paginate(EmergencyStop.objects.filter(workspace_id=self.bearer.workspace_id), request)
        return Response(page | {"results": list(map(represent_stop, page["results"]))})

    @extend_schema(
        operation_id="stops_set", summary="Stop a workspace, an agent or a session at once",
        description="Every call is denied from the next decision on, reads too, whatever policy enforces.",
        request=schema.NewStopBody,
        responses={**responses_for(201, schema.StopAnswer, 415), **ALREADY},
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        body = schema.NewStopBody(data=request.data)
        body.is_valid(raise_exception=True)
        data = body.validated_data
        subject, reason = data.get("subject", ""), data.get("reason", "")
        new = stop(self.workspace, data["kind"], subject, self.stop_actor, reason=reason)
        return Response(represent_stop(new), status=201)


class StopView(StopViewBase):
    required_role = {"DELETE": "admin"}

    @extend_schema(
        operation_id="stops_lift", summary="Lift a stop: calls are judged again",
        responses={**responses_for(200, schema.StopAnswer), **NOT_FOUND},
    )  # fmt: skip
    def delete(self, _: Request, stop_id: str) -> Response:
        lifted = lift(self.workspace, stop_id, self.stop_actor)
        return Response(represent_stop(lifted))


def represent_stop(row: EmergencyStop) -> dict[str, Any]:
    return {
        "id": row.public_id,
        "kind": row.kind,
        "subject": row.subject or None,
        "reason": row.reason or None,
        "stopped_by": row.stopped_by,
        "stopped_at": row.stopped_at,
        "lifted_by": row.lifted_by or None,
        "lifted_at": row.lifted_at,
    }
