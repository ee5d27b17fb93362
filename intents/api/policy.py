"""REST for the policy of a workspace."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api.errors import ErrorAnswer
from controlplane.api.fields import BoolField, IntField, StrField
from controlplane.api.views import WorkspaceView
from controlplane.policy.model import ToolClass
from intents import workspace_policy
from intents.api import schema

CLASSES = [ToolClass.SAFE.value, ToolClass.DESTRUCTIVE.value]


class PolicyAnswer(schema.Body):
    """Every key of the policy."""

    enforcement = s.ChoiceField(
        choices=["enforce", "monitor", "off"],
        help_text="`monitor` decides and records, and answers allow with `would_be`.",
    )
    when_unavailable = s.ChoiceField(
        choices=["deny_all", "deny_destructive"], help_text="While there is no registry to rely on."
    )
    reads_outside_workspace = s.ChoiceField(choices=["deny", "allow"])
    empty_scope = s.ChoiceField(choices=["deny", "allow"], help_text="What a scope without patterns means.")
    shared_intents = s.ChoiceField(
        choices=["deny", "allow"], help_text="Whether two sessions may hold one intent."
    )
    session_idle_minutes = IntField(min_value=1, help_text="A session silent for longer holds nothing.")
    completion = s.ChoiceField(choices=["agent", "human"], help_text="Who says that an intent is completed.")
    require_mutation_class = BoolField()
    require_content_hash = BoolField()
    case_insensitive_paths = BoolField()
    tool_classes = s.DictField(
        child=s.ChoiceField(choices=CLASSES), help_text="A tool's name or a glob; the first match wins."
    )
    safe_commands = s.ListField(child=StrField(), help_text="Shell commands that count as safe: `npm test`.")
    protected_paths = s.ListField(
        child=StrField(), help_text="Globs that only a scope naming the very path opens."
    )
    approvable = s.ListField(child=StrField(), help_text="Error types that a person may approve.")
    approval_timeout_minutes = IntField(min_value=1)
    conflicts = s.ChoiceField(
        choices=["allow", "ask", "deny"],
        help_text="A file that another live session changed meanwhile, or another intent in progress owns.",
    )
    freeze_after_denials = IntField(
        min_value=0,
        help_text="Different refused attempts at one thing that freeze a session; 0 is never.",
    )


class PolicyProblemAnswer(schema.Body):
    key = StrField()
    message = StrField()
    allowed = StrField()


class RefusedPolicy(ErrorAnswer):
    problems = PolicyProblemAnswer(many=True, required=False)


INVALID = OpenApiResponse(RefusedPolicy, description="`INVALID_POLICY`: nothing was changed.")


class PolicyView(WorkspaceView):
    required_role = {"GET": "agent", "PATCH": "admin"}

    @extend_schema(
        operation_id="policy_get", summary="The workspace's policy, defaults included",
        responses=schema.answers(200, PolicyAnswer),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        return Response(workspace_policy.read_policy(self.workspace))

    @extend_schema(
        operation_id="policy_change", summary="Set keys of the policy; they hold from the next call",
        request=PolicyAnswer(partial=True),
        responses={**schema.answers(200, PolicyAnswer, 415), 400: INVALID},
        examples=[OpenApiExample("Try it out first", value={"enforcement": "monitor"}, request_only=True)],
    )  # fmt: skip
    def patch(self, request: Request) -> Response:
        return Response(workspace_policy.change_policy(self.workspace, request.data, actor=self.actor))
