"""Serve approvals over REST: list, read (optionally waiting for the decision), decide."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api.errors import ApiError, ErrorAnswer
from controlplane.api.pagination import PAGE_PARAMETERS, paginate, read_integer
from controlplane.api.views import WorkspaceView
from sessions.api_schema import responses_for
from sessions.approvals import lifecycle, schema
from sessions.approvals.batch.decide import decide_all
from sessions.approvals.decision_input import Decider, DecisionInput
from sessions.approvals.rejection_lesson import find_lesson_id
from sessions.approvals.representations import represent_approval, represent_missing, represent_result
from sessions.approvals.triage.openings import record_opening
from sessions.live.hold_open import HOLD_HEADER, MAX_WAIT_SECONDS, RESUMED
from sessions.models import Approval

NOT_FOUND = {
    404: OpenApiResponse(ErrorAnswer, description="No such approval in this workspace, or not yours to see.")
}


class ApprovalViewBase(WorkspaceView):
    required_role = "agent"

    def list_visible(self) -> QuerySet[Approval]:
        """Return the workspace's approvals to reviewers, and to an agent those of its own sessions."""
        approvals = Approval.objects.with_relations().for_workspace(self.bearer.workspace_id)
        if self.bearer.has_role("reviewer"):
            return approvals
        return approvals.filter(session__token_id=self.bearer.token_id)

    def get_approval(self, approval_id: str) -> Approval:
        """Find a visible approval and expire it if its deadline has passed. Raise ApiError 404."""
        approval = self.list_visible().filter(public_id=approval_id).first()
        if approval is None:
            raise ApiError(404, "NOT_FOUND", represent_missing(approval_id)["error"])
        if approval.status == Approval.Status.PENDING and lifecycle.expire(approval):
            approval.refresh_from_db()
        return approval

    def build_decider(self) -> Decider:
        bearer = self.bearer
        return Decider(
            name=bearer.name,
            user_id=bearer.person_id,
            token_id=bearer.token_id,
            actor=bearer.actor,
            is_admin=bearer.has_role("admin"),
        )


class ApprovalsView(ApprovalViewBase):
    @extend_schema(
        operation_id="approvals_list", summary="List approvals, newest first",
        parameters=[
            OpenApiParameter("status", OpenApiTypes.STR, enum=Approval.Status.values),
            *PAGE_PARAMETERS,
        ],
        responses=responses_for(200, schema.ApprovalPage),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        rows, status = self.list_visible(), request.query_params.get("status", "")
        if status:
            if status.upper() not in Approval.Status.values:
                raise ApiError(
                    400, "INVALID_INPUT", f"status must be one of {', '.join(Approval.Status.values)}."
                )
            rows = rows.filter(status=status.upper())
        page = paginate(rows, request)
        return Response(page | {"results": [represent_approval(row) for row in page["results"]]})


class ApprovalView(ApprovalViewBase):
    @extend_schema(
        operation_id="approvals_get", summary="Read an approval, held until it is decided where asked",
        parameters=[
            OpenApiParameter(
                "wait_seconds", OpenApiTypes.INT,
                description=f"Answer when it is decided, or after this time (0 to {MAX_WAIT_SECONDS}).",
            ),
            OpenApiParameter(
                "notice", OpenApiTypes.BOOL,
                description="For a notice that the agent may not see: its next hook tells it all the same.",
            ),
        ],
        responses={**responses_for(200, schema.ApprovalAnswer), **NOT_FOUND},
    )  # fmt: skip
    def get(self, request: Request, approval_id: str) -> Response:
        seconds = read_integer(request, "wait_seconds", 0, low=0, high=MAX_WAIT_SECONDS)
        approval = self.get_approval(approval_id)
        if self.bearer.has_role("reviewer"):
            record_opening([approval], self.build_decider())
        is_pending = approval.status == Approval.Status.PENDING
        is_read = request.query_params.get("notice") != "true"
        if is_read and not is_pending and approval.session.token_id == self.bearer.token_id:
            Approval.objects.filter(pk=approval.pk).mark_told()
        is_resumed = RESUMED in request.META
        headers = (
            {HOLD_HEADER: f"{approval.public_id};{seconds}"}
            if is_pending and seconds and not is_resumed
            else {}
        )
        return Response(represent_approval(approval), headers=headers)


class DecisionViewBase(ApprovalViewBase):
    required_role = "reviewer"


class DecideView(DecisionViewBase):
    @extend_schema(
        operation_id="approvals_decide", summary="Approve or reject; the first one wins",
        request=schema.DecideBody,
        responses={
            **responses_for(200, schema.DecidedAnswer, 415), **NOT_FOUND,
            403: OpenApiResponse(ErrorAnswer, description="Not a reviewer, or your own session asked."),
            409: OpenApiResponse(ErrorAnswer, description="Already decided, expired or cancelled."),
        },
    )  # fmt: skip
    def post(self, request: Request, approval_id: str) -> Response:
        body = schema.DecideBody(data=request.data)
        body.is_valid(raise_exception=True)
        approval = lifecycle.decide(
            self.get_approval(approval_id), self.build_decider(), to_decision_input(body.validated_data)
        )
        return Response(represent_approval(approval) | {"lesson_id": find_lesson_id(approval) or None})


class DecideManyView(DecisionViewBase):
    @extend_schema(
        operation_id="approvals_decide_many", summary="Approve or reject several; a result for each",
        description=(
            "Each is decided separately, so one that fails stops none of the others. What cannot be undone "
            "or foreseen (deletions, completions, unknown targets, wide reach) is approved only after the "
            "same token or person has opened it: on its card, or with `GET /api/v1/approvals/{id}`."
        ),
        request=schema.BatchDecideBody, responses=responses_for(200, schema.BatchAnswer, 415),
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        body = schema.BatchDecideBody(data=request.data)
        body.is_valid(raise_exception=True)
        ids = list(dict.fromkeys(body.validated_data["ids"]))
        found = {row.public_id: row for row in self.list_visible().filter(public_id__in=ids)}
        decision = to_decision_input(body.validated_data)
        known = [found[approval_id] for approval_id in ids if approval_id in found]
        results = {
            result.approval.public_id: represent_result(result)
            for result in decide_all(known, self.build_decider(), decision)
        }
        return Response({"results": [results.get(each) or represent_missing(each) for each in ids]})


def to_decision_input(data: dict[str, Any]) -> DecisionInput:
    return DecisionInput(
        action=data["action"],
        grant=data["grant"],
        patterns=_to_tuple(data.get("patterns")),
        kinds=_to_tuple(data.get("kinds")),
        minutes=data.get("minutes"),
        tool_reads_only=data.get("tool_reads_only", False),
        comment=data.get("comment", ""),
        lesson=data.get("lesson", False),
    )


def _to_tuple(texts: list[str] | None) -> tuple[str, ...] | None:
    return None if texts is None else tuple(texts)
