"""REST for sessions: each view validates, calls one service, answers."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api.pagination import PAGE_PARAMETERS, paginate
from controlplane.api.views import WorkspaceView
from controlplane.policy.model import SessionState
from intents.rules.ignore_files import find_excluded_intents
from sessions.api_schema import Body, responses_for
from sessions.approvals.grants import end_reported_grant
from sessions.approvals.representations import represent_approval
from sessions.approvals.schema import ApprovalAnswer
from sessions.core_values import load_policy
from sessions.errors import SessionNotFoundError
from sessions.gate.monitoring.health import compute_health
from sessions.gate.request import ID, parse_field
from sessions.lifecycle.available_intents import list_available_intents
from sessions.lifecycle.complete import complete_intent
from sessions.lifecycle.end import end_session
from sessions.lifecycle.guidance import preflight, render_prompt
from sessions.lifecycle.handshake import select_intent
from sessions.lifecycle.open import (
    Opening,
    find_session,
    open_session,
    parse_opening,
    require_owner,
    resume_session,
)
from sessions.lifecycle.request_scope import ScopeRequest, request_scope
from sessions.models import AgentSession
from sessions.representations import count_session_entries, represent_session
from sessions.rest import schema
from sessions.trace_report import record_trace


class SessionViewBase(WorkspaceView):
    """Views of one session: readers need to own it or to be reviewers, actors need to own it."""

    required_role: str | dict[str, str] = "agent"

    def get_session(self, session_id: str, *, acting: bool = True) -> AgentSession:
        """Find the session of the address. Raise SessionNotFoundError or ForeignSessionError."""
        session = find_session(self.bearer.workspace_id, session_id)
        if session is None:
            raise SessionNotFoundError(f"There is no session {session_id} in this workspace.")
        if acting or not self.bearer.has_role("reviewer"):
            require_owner(session, self.bearer)
        return session

    def validate(self, serializer: type[Body]) -> dict[str, Any]:
        body = serializer(data=self.request.data)
        body.is_valid(raise_exception=True)
        return dict(body.validated_data)


class SessionsView(SessionViewBase):
    required_role = {"GET": "reviewer", "POST": "agent"}

    @extend_schema(
        operation_id="sessions_list", summary="List sessions, newest first",
        parameters=PAGE_PARAMETERS, responses=responses_for(200, schema.SessionPage),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        page = paginate(AgentSession.objects.filter(workspace_id=self.bearer.workspace_id), request)
        return Response(page | {"results": [represent_session(row) for row in page["results"]]})

    @extend_schema(
        operation_id="sessions_open", summary="Open a session, or resume it",
        request=schema.OpenSessionBody,
        responses={**responses_for(200, schema.OpenedSession, 415), 201: schema.OpenedSession},
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        data = self.validate(schema.OpenSessionBody)
        opening: Opening = parse_opening(data | {"session_id": _requested_id(data)})
        session, created = open_session(self.bearer, opening)
        answer = represent_session(session) | {
            "created": created,
            "prompt": render_prompt(session),
            "available_intents": _represent_available(session),
        }
        return Response(answer, status=201 if created else 200)


class SessionView(SessionViewBase):
    @extend_schema(
        operation_id="sessions_get", summary="State, intent and counts of a session",
        responses=responses_for(200, schema.SessionDetail, 404),
    )  # fmt: skip
    def get(self, request: Request, session_id: str) -> Response:
        session = self.get_session(session_id, acting=False)
        health = compute_health(session)
        details = {
            "counts": count_session_entries(session),
            "health": {"state": health.state, "why": health.why},
        }
        return Response(represent_session(session) | details)


class SelectIntentView(SessionViewBase):
    @extend_schema(
        operation_id="sessions_select_intent", summary="The handshake: take one intent, for life",
        description="`success` is false, with `error` and `error_type`, when the intent cannot be taken.",
        request=schema.SelectIntentBody, responses=responses_for(200, schema.HandshakeAnswer, 404, 415),
    )  # fmt: skip
    def post(self, request: Request, session_id: str) -> Response:
        intent_id = self.validate(schema.SelectIntentBody)["intent_id"]
        session = self.get_session(session_id)
        if session.can_resume:
            resume_session(session, self.actor)
        return Response(select_intent(session, intent_id, self.actor))


class PromptView(SessionViewBase):
    @extend_schema(
        operation_id="sessions_prompt", summary="The governance section for the system prompt",
        responses=responses_for(200, schema.PromptAnswer, 404),
    )  # fmt: skip
    def get(self, request: Request, session_id: str) -> Response:
        session = self.get_session(session_id, acting=False)
        answer = {
            "session_id": session.session_id,
            "state": session.state,
            "intent_id": session.selected_intent_id or None,
        }
        return Response(answer | {"prompt": render_prompt(session)})


class PreflightView(SessionViewBase):
    @extend_schema(
        operation_id="sessions_preflight", summary="Check before a prompt goes out to the model",
        request=schema.PreflightBody, responses=responses_for(200, schema.PreflightAnswer, 404, 415),
    )  # fmt: skip
    def post(self, request: Request, session_id: str) -> Response:
        tools = self.validate(schema.PreflightBody).get("tools")
        return Response(preflight(self.get_session(session_id), tools))


class RequestScopeView(SessionViewBase):
    @extend_schema(
        operation_id="sessions_request_scope", summary="Ask a human once for what the work will need",
        description="Patterns to write and kinds of commands, bounded by the intent; or places to read.",
        request=schema.RequestScopeBody, responses=responses_for(201, ApprovalAnswer, 404, 409, 415),
    )  # fmt: skip
    def post(self, request: Request, session_id: str) -> Response:
        data = self.validate(schema.RequestScopeBody)
        expected = ScopeRequest(
            tuple(data.get("patterns") or ()), tuple(data.get("kinds") or ()), data["access"], data["reason"]
        )
        approval = request_scope(self.get_session(session_id), expected)
        return Response(represent_approval(approval), status=201)


class CompleteIntentView(SessionViewBase):
    @extend_schema(
        operation_id="sessions_complete_intent", summary="Say that the intent's work is done",
        description="Completed at once where policy `completion` is `agent`; otherwise a human confirms. "
        "`acceptance_evidence` is kept with the intent; the completion confirms it.",
        request=schema.CompleteIntentBody,
        responses=responses_for(200, schema.CompletionAnswer, 404, 409, 415),
    )  # fmt: skip
    def post(self, request: Request, session_id: str) -> Response:
        data = self.validate(schema.CompleteIntentBody)
        session, evidence = self.get_session(session_id), data.get("acceptance_evidence")
        approval = complete_intent(session, data["verification_notes"], self.actor, evidence)
        rendered = represent_approval(approval) if approval is not None else None
        return Response({"completed": approval is None, "approval": rendered})


class EndSessionView(SessionViewBase):
    @extend_schema(
        operation_id="sessions_end", summary="End a session and release its intent",
        request=None, responses=responses_for(200, schema.SessionAnswer, 404),
    )  # fmt: skip
    def post(self, request: Request, session_id: str) -> Response:
        session = self.get_session(session_id, acting=not self.bearer.has_role("reviewer"))
        if session.state != SessionState.ENDED or session.can_resume:
            own = session.token_id == self.bearer.token_id
            by = AgentSession.EndedBy.CLIENT if own else AgentSession.EndedBy.PERSON
            end_session(session, self.actor, by=by)
            session.refresh_from_db()
        return Response(represent_session(session))


class SessionTraceView(SessionViewBase):
    @extend_schema(
        operation_id="sessions_record_trace",
        summary="Record one mutation, in the simple form",
        description="The same tool_use_id for the same path is recorded once; 200 says that it was there.",
        request=schema.TraceBody,
        responses={
            **responses_for(200, schema.RecordedTraceAnswer, 404, 409, 415),
            201: schema.RecordedTraceAnswer,
        },
    )
    def post(self, request: Request, session_id: str) -> Response:
        data = self.validate(schema.TraceBody)
        session = self.get_session(session_id)
        answer, new = record_trace(session, data, self.actor)
        end_reported_grant(session, data.get("tool_use_id") or "")
        return Response(answer, status=201 if new else 200)


def _represent_available(session: AgentSession) -> list[dict[str, Any]]:
    workspace = session.workspace
    intents = list_available_intents(
        workspace.pk, load_policy(workspace), find_excluded_intents(workspace), session=session
    )
    return [
        {
            "id": intent.intent_id,
            "name": intent.name,
            "description": intent.description,
            "status": intent.status,
            "available": not intent.note,
            "note": intent.note or None,
        }
        for intent in intents
    ]


def _requested_id(data: dict[str, Any]) -> str:
    """Return the id that the client chose, by the gate's rule; "" where the server chooses."""
    session_id = data.get("session_id")
    return parse_field("session_id", session_id, ID) if session_id else ""
