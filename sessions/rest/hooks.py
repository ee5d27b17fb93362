"""`POST /hooks/{agent}/{event}`: a client's own hook, answered in the client's own form; no rules here."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api.authentication import TokenAuthentication
from controlplane.api.views import WorkspaceView
from controlplane.shared.metrics import observe_decision
from controlplane.shared.steps import run_steps
from controlplane.shared.tokens import Bearer, find_bearer, find_cached_bearer
from sessions.adapters.dispatch import HookRequest, hook_steps
from sessions.adapters.hook_call import Body, Event, HookAnswer
from sessions.adapters.news import tell_news
from sessions.adapters.parse import event_name_in, find_client, parse_hook
from sessions.adapters.refusal_text import failure_answer
from sessions.adapters.registry import CLIENTS
from sessions.errors import GateInputError
from sessions.gate.answers import render_refusal
from sessions.gate.api import Reply
from sessions.gate.check import Steps
from sessions.gate.limits import MAX_BODY_BYTES, TOO_LONG
from sessions.gate.record import record_alone
from sessions.gate.schema import GateRefusal
from sessions.live.hold_open import HOLD_HEADER, MAX_BODY, RESUMED

DECISION_HEADER = "X-ICP-Decision"  # allow, deny or ask: read by `icp.py doctor` and in logs
ERROR_HEADER = "X-ICP-Error"
CONTAINMENT_KEY = "icp_containment"  # our hook client takes it out and rewrites the call
CONTEXT_EVENTS = frozenset({Event.PROMPT, Event.SESSION_START})
DESCRIPTION = (
    "The body is what the client gives its hook; `icp` may stand beside it, an object with `root`, "
    "`revision_id`, `client_version`, `current_content_hashes`, `links`, `changed_lines` (after a tool: "
    "path to its first and last changed line), `line_changes` (path to what each hunk brought and took: "
    "`start_line`, `line_count`, 0 for a deletion, `content_hash`, `previous_line_count` and "
    "`previous_hash`), `wait_seconds` (0 to 55, cut to what the client waits for) "
    "and `dry_run`. The answer is in the client's own form. Before a tool, every answer is a 200, because "
    "clients let the tool run on anything else: a bad token, a malformed body or an "
    "error of the server is a denial in that form, named in the header X-ICP-Error. `{}` says that there "
    "is no objection, and leaves the client's own permission prompt in place. Where a human must approve, "
    "it is a denial with the approval's reference: the same call, sent again once it is approved, runs."
)


@dataclass(frozen=True, slots=True)
class Hook:
    """The address of a hook: which client calls, and what it calls the event."""

    agent: str
    event: str

    @property
    def kind(self) -> Event | None:
        client = CLIENTS.get(self.agent)
        return client.events.get(self.event) if client else None


def add_wait_seconds(payload: Any, wait: str | None) -> Any:
    """Return the payload with `wait_seconds` of the query string, where it has one. Raise GateInputError."""
    if wait is None or not isinstance(payload, dict):
        return payload
    try:
        client_fields = {"wait_seconds": float(wait), **(payload.get("icp") or {})}
    except (TypeError, ValueError) as error:
        raise GateInputError("wait_seconds must be a number, and icp an object.") from error
    return {**payload, "icp": client_fields}


def answer_steps(bearer: Bearer, hook: Hook, payload: Any, size: int, resumed: str = "") -> Steps[Reply]:
    """Answer a decoded payload of `size` bytes. `resumed` is the approval that the request was held for."""
    started = time.perf_counter()
    call, gate_request = parse_hook(hook.agent, hook.event, payload, size)
    request = HookRequest(bearer, call, gate_request)
    result = tell_news(request, (yield from hook_steps(request)), find_client(hook.agent), hook.event)
    if result.decision:
        observe_decision(result.decision, time.perf_counter() - started)
    client = find_client(hook.agent)
    headers = {DECISION_HEADER: result.decision} if result.decision else {}
    seconds = min(gate_request.wait_seconds, client.max_wait_seconds)
    if result.approval and seconds and not resumed:
        headers[HOLD_HEADER] = f"{result.approval};{seconds}"
    body = client.render(hook.event, result.answer)
    if result.answer.containment is not None:
        body = {**body, CONTAINMENT_KEY: result.answer.containment}
    return Reply(body, headers)


def render_failure(hook: Hook, event_name: str | None, error_type: str, error: str) -> Reply | None:
    """Fail closed: an error before a tool is the client's own denial, with a 200; None for other events.

    Clients let the tool run on any other status. `event_name` is the event as the payload names it.
    """
    if hook.agent not in CLIENTS:
        return None
    actual = Hook(hook.agent, event_name or hook.event)
    if actual.kind not in {None, Event.PRE_TOOL, *CONTEXT_EVENTS}:
        return None
    denial = failure_answer(str(error))
    answer = HookAnswer(context=denial.text) if actual.kind in CONTEXT_EVENTS else denial
    headers = {ERROR_HEADER: str(error_type)}
    if answer.denied:
        headers[DECISION_HEADER] = "deny"
    return Reply(_render(actual, answer), headers)


def _render(hook: Hook, answer: HookAnswer) -> Body:
    """Render an answer; for an unknown event as for the one before a tool, which denies."""
    client, event = CLIENTS[hook.agent], hook.event
    if event not in client.events:
        event = next(name for name, kind in client.events.items() if kind is Event.PRE_TOOL)
    return client.render(event, answer)


class HookView(WorkspaceView):
    required_role = "agent"
    error_body = staticmethod(render_refusal)
    event_name: str | None = None  # the event as the payload names it: a refusal is rendered for that one

    def get_authenticators(self) -> list[BaseAuthentication]:
        """Cache tokens for the gate's own event only: its append checks that the token was not revoked."""
        return [
            TokenAuthentication(find_cached_bearer if self._event_kind() is Event.PRE_TOOL else find_bearer)
        ]

    @extend_schema(
        operation_id="hooks",
        summary="Report a hook of a coding agent, and learn whether its tool may run",
        description=DESCRIPTION,
        parameters=[
            OpenApiParameter("agent", str, OpenApiParameter.PATH, enum=sorted(CLIENTS)),
            OpenApiParameter("event", str, OpenApiParameter.PATH, description="The client's own name of it."),
            OpenApiParameter(
                "wait_seconds", float, description="As `icp.wait_seconds`, for plain HTTP hooks."
            ),
        ],
        request=OpenApiTypes.OBJECT,
        responses={
            200: OpenApiResponse(OpenApiTypes.OBJECT, description="The answer in the client's own form."),
            **{code: OpenApiResponse(GateRefusal) for code in (400, 401, 403, 404, 415, 429, 503)},
        },
        examples=[
            OpenApiExample(
                "Before a write of Claude Code",
                {
                    "session_id": "3f1c",
                    "hook_event_name": "PreToolUse",
                    "cwd": "/home/ada/acme",
                    "tool_name": "Write",
                    "tool_input": {"file_path": "src/auth/login.ts", "content": "…"},
                    "tool_use_id": "toolu_01",
                },
                request_only=True,
            )
        ],
    )
    def post(self, request: Request, agent: str, event: str) -> Response:
        size = int(request.META.get("CONTENT_LENGTH") or 0)
        if size > (MAX_BODY_BYTES if self._event_kind() is Event.PRE_TOOL else MAX_BODY):
            raise GateInputError(TOO_LONG)  # after a tool its results stand beside its input
        payload = add_wait_seconds(request.data, request.query_params.get("wait_seconds"))
        self.event_name = event_name_in(payload)
        resumed = request.META.get(RESUMED, "")
        steps = answer_steps(self.bearer, Hook(agent, event), payload, size, resumed)
        reply = run_steps(steps, record_alone)
        return Response(reply.body, headers=reply.headers)

    def handle_exception(self, exc: Exception) -> Response:
        """Fail closed: an error before a tool is the client's own denial, with a 200."""
        response = super().handle_exception(exc)
        if self.request.method != "POST":
            return response
        hook = Hook(self.kwargs["agent"], self.kwargs["event"])
        details = response.data
        denial = render_failure(hook, self.event_name, details["error_type"], details["error"])
        return response if denial is None else Response(denial.body, headers=denial.headers)

    def _event_kind(self) -> Event | None:
        return Hook(self.kwargs.get("agent", ""), self.event_name or self.kwargs.get("event", "")).kind
