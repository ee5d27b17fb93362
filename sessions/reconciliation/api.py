"""REST for reconciliations: what really changed in a range of commits, held against the record."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api.errors import ApiError
from controlplane.api.pagination import PAGE_PARAMETERS, paginate, read_boolean
from controlplane.api.views import WorkspaceView
from sessions.api_schema import responses_for
from sessions.reconciliation import schema
from sessions.reconciliation.reconcile import reconcile
from sessions.representations import format_time
from traces.entries.reconciliations import list_reconciliations, record_reconciliation
from traces.evidence.answers import prove_answer
from traces.ledger.append import read_body
from traces.models import LedgerEntry

LISTED = ("base", "head", "session_id", "intent_id", "counts")
UNKNOWN: dict[str, Any] = {"base": "", "head": "", "session_id": None, "intent_id": None} | {
    "counts": dict.fromkeys(("files", "explained", "unexplained", "out_of_scope"), 0),
    "findings": [],
    "explained": [],
}


class ReconciliationsView(WorkspaceView):
    required_role = "agent"

    @extend_schema(
        operation_id="reconciliations_list", summary="List reconciliations, newest first",
        parameters=PAGE_PARAMETERS, responses=responses_for(200, schema.ReconciliationPage),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        page = paginate(list_reconciliations(self.bearer.workspace_id), request)
        rows = [_answer(entry) for entry in page["results"]]
        names = ("id", "received_at", *LISTED)
        return Response(page | {"results": [{name: row[name] for name in names} for row in rows]})

    @extend_schema(
        operation_id="reconciliations_post",
        summary="Hold the files of a range of commits against decisions, traces and scopes",
        description=(
            "Each file is explained, unexplained or out of scope. The same range with the same result is "
            "recorded once (200 instead of 201). `icp.py reconcile` sends it."
        ),
        parameters=[
            OpenApiParameter("dry_run", OpenApiTypes.BOOL, description="Judge, record nothing."),
            OpenApiParameter("proof", OpenApiTypes.BOOL, description="Prove every entry that is named."),
        ],
        request=schema.ReconciliationBody,
        responses={**responses_for(200, schema.ReconciliationAnswer, 415), 201: schema.ReconciliationAnswer},
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        body = schema.ReconciliationBody(data=request.data)
        body.is_valid(raise_exception=True)
        found = reconcile(self.workspace, schema.build_range(dict(body.validated_data)))
        if read_boolean(request, "dry_run"):
            return Response(self._with_proof(request, {"id": None, "received_at": None, **found}))
        entry, new = record_reconciliation(self.bearer.workspace_id, found, actor=self.actor)
        return Response(self._with_proof(request, _answer(entry)), status=201 if new else 200)

    def _with_proof(self, request: Request, answer: dict[str, Any]) -> dict[str, Any]:
        if not read_boolean(request, "proof"):
            return answer
        files = [*answer["findings"], *answer["explained"]]
        names = [answer["id"], *(file[name] for file in files for name in ("entry_id", "decision_id"))]
        return answer | {"proof": prove_answer(self.bearer.workspace_id, filter(None, names))}


class ReconciliationView(WorkspaceView):
    required_role = "agent"

    @extend_schema(
        operation_id="reconciliations_get", summary="One reconciliation with every file",
        responses=responses_for(200, schema.ReconciliationAnswer, 404),
    )  # fmt: skip
    def get(self, request: Request, entry_id: str) -> Response:
        entry = list_reconciliations(self.bearer.workspace_id).filter(entry_id=entry_id).first()
        if entry is None:
            raise ApiError(404, "NOT_FOUND", f"There is no reconciliation {entry_id} in this workspace.")
        return Response(_answer(entry))


def _answer(entry: LedgerEntry) -> dict[str, Any]:
    """What was redacted reads as empty."""
    return {
        "id": entry.entry_id,
        "received_at": format_time(entry.received_at),
        **(read_body(entry) or UNKNOWN),
    }
