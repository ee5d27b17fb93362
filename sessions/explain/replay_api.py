"""`POST /api/v1/replay`: which answers of the last days a proposal would have changed."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers as s
from rest_framework.response import Response

from controlplane.api.errors import ApiError
from controlplane.api.fields import IntField, StrField
from controlplane.api.views import WorkspaceView
from controlplane.policy.globs import parse
from intents.rules import intentignore as ignorefile
from intents.rules.replay import DAYS, MAX_DAYS, RuleChanges, replay_recorded_calls
from intents.selectors import find_intent
from sessions.api_schema import Body, responses_for
from sessions.representations import format_time
from traces.entries.recorded_calls import MAX_CALLS

if TYPE_CHECKING:
    from rest_framework.request import Request

    from controlplane.policy.replay import Replay

VERDICTS = ["allow", "ask", "deny"]
MAX_PATTERNS = 500


class ReplayBody(Body):
    days = IntField(required=False, min_value=1, max_value=MAX_DAYS, help_text=f"Default {DAYS}.")
    limit = IntField(
        required=False, min_value=1, max_value=MAX_CALLS, help_text="The newest calls that are looked at."
    )
    intent_id = StrField(required=False, max_length=200, help_text="Whose scope `owned_scope` would be.")
    owned_scope = s.ListField(child=StrField(max_length=512), required=False, max_length=MAX_PATTERNS)
    intentignore = StrField(required=False, allow_blank=True, help_text="The whole file.")
    policy = s.DictField(required=False, help_text="The keys that would be set.")


class FlipCount(Body):
    before = s.ChoiceField(choices=VERDICTS)
    after = s.ChoiceField(choices=VERDICTS)
    calls = IntField()


class FlipAnswer(FlipCount):
    """`decision_id` and what follows are those of the newest of the calls."""

    path = StrField(help_text="What the decision hangs on; the tool where no path is known.")
    decision_id = StrField()
    at = s.DateTimeField()
    session_id = StrField()
    intent_id = StrField()
    tool = StrField()
    recorded = s.ChoiceField(choices=VERDICTS, help_text="What was decided then.")
    error = StrField(help_text="What the agent would be told; empty for an allow.")


class NotReplayable(Body):
    why = StrField()
    calls = IntField()


class ReplayAnswer(Body):
    days = IntField()
    looked_at = IntField()
    replayed = IntField()
    truncated = s.BooleanField(help_text="Whether there may be older calls than those looked at.")
    not_replayable = NotReplayable(many=True)
    counts = FlipCount(many=True)
    flips = FlipAnswer(many=True)


EXAMPLE = {"intent_id": "INT-001", "owned_scope": ["src/auth/**", "!src/auth/keys/**"], "days": 14}


class ReplayView(WorkspaceView):
    required_role = "reviewer"

    @extend_schema(
        operation_id="replay",
        summary="Decide recorded calls again under a proposal",
        description=(
            "Both answers are decided now, with today's rules and with the proposal, so a difference is the"
            " proposal's. Past links and content hashes are not known and are ignored. Changes nothing."
        ),
        request=ReplayBody,
        responses=responses_for(200, ReplayAnswer, 404, 415),
        examples=[OpenApiExample("A narrower scope", EXAMPLE, request_only=True)],
    )
    def post(self, request: Request) -> Response:
        body = ReplayBody(data=request.data)
        body.is_valid(raise_exception=True)
        data = dict(body.validated_data)
        days, limit = data.get("days", DAYS), data.get("limit", MAX_CALLS)
        proposal = read_changes(self.bearer.workspace_id, data)
        found = replay_recorded_calls(self.workspace, proposal, days=days, limit=limit)
        return Response({"days": days, "truncated": found.total >= limit, **render_replay(found)})


def read_changes(workspace_id: int, data: dict[str, Any]) -> RuleChanges:
    """Raises `ApiError` 400 and 404."""
    scope, text, policy = (data.get(name) for name in ("owned_scope", "intentignore", "policy"))
    if scope is None and text is None and policy is None:
        raise ApiError(400, "INVALID_INPUT", "Propose owned_scope (with intent_id), intentignore or policy.")
    scopes = None if scope is None else {_intent(workspace_id, data.get("intent_id", "")): _scope(scope)}
    return RuleChanges(scopes, None if text is None else _text(text), policy)


def _intent(workspace_id: int, intent_id: str) -> str:
    if find_intent(workspace_id, intent_id) is None:
        raise ApiError(404, "NOT_FOUND", "owned_scope needs the intent_id of a registered intent.")
    return intent_id


def _scope(patterns: list[str]) -> tuple[str, ...]:
    for pattern in patterns:
        problem = parse.find_problem(pattern)
        if problem is not None:
            raise ApiError(400, "INVALID_GLOB", f"{problem.message} {problem.suggestion or ''}".strip())
    return tuple(patterns)


def _text(text: str) -> str:
    return ignorefile.decode_text(text.encode())


def render_replay(replay: Replay) -> dict[str, Any]:
    return {
        "looked_at": replay.total,
        "replayed": replay.replayed,
        "not_replayable": [
            {"why": reason, "calls": calls} for reason, calls in replay.not_replayable.items()
        ],
        "counts": [
            {"before": before, "after": after, "calls": calls}
            for (before, after), calls in sorted(replay.counts.items())
        ],
        "flips": [asdict(flip) | {"at": format_time(flip.at)} for flip in replay.flips],
    }
