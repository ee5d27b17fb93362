"""REST for the policy of a workspace."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api.errors import ErrorAnswer
from controlplane.api.fields import BoolField, IntField, StrField
from controlplane.api.views import WorkspaceView
from controlplane.policy.effects import Permission
from controlplane.policy.model import ToolClass
from intents.api import schema
from intents.rules import policy


class OpenedFolder(schema.Body):
    """A folder outside the workspace."""

    pattern = StrField(help_text="A glob; `~` is the agent's home.")
    access = s.ChoiceField(choices=["read", "write"])


CLASSES = [ToolClass.SAFE.value, ToolClass.DESTRUCTIVE.value]


class PolicyAnswer(schema.Body):
    """All keys of the policy."""

    enforcement = s.ChoiceField(
        choices=["enforce", "monitor", "off"],
        help_text="`monitor` decides and records, and answers allow with `would_be`.",
    )
    when_unavailable = s.ChoiceField(
        choices=["deny_all", "deny_destructive"], help_text="While the registry is empty, missing or corrupt."
    )
    reads_outside_workspace = s.ChoiceField(choices=["deny", "allow"])
    empty_scope = s.ChoiceField(
        choices=["deny", "allow"], help_text="Whether an empty scope owns nothing or everything."
    )
    shared_intents = s.ChoiceField(
        choices=["deny", "allow"], help_text="Whether two sessions may hold the same intent."
    )
    session_idle_minutes = IntField(
        min_value=1, help_text="Release an idle session's intent after this time."
    )
    completion = s.ChoiceField(
        choices=["agent", "human"], help_text="Who confirms that an intent is completed."
    )
    require_mutation_class = BoolField()
    require_content_hash = BoolField()
    case_insensitive_paths = BoolField()
    tool_classes = s.DictField(
        child=s.ChoiceField(choices=CLASSES), help_text="By tool name or glob; the first match wins."
    )
    safe_commands = s.ListField(child=StrField(), help_text="Shell commands that count as safe: `npm test`.")
    effects = s.DictField(
        child=s.ChoiceField(choices=[word.value for word in Permission]),
        help_text="What commands may do, by effect; those that are left out keep their defaults.",
    )
    containment = s.ChoiceField(
        choices=["off", "unknown", "all"],
        help_text="Which commands a client that can contain them runs so: none, those that would ask, all.",
    )
    hosts = s.ListField(child=StrField(), help_text="Hosts that commands may read from: `*.example.org`.")
    places = OpenedFolder(many=True, help_text="Folders outside the workspace that agents may use.")
    protected_paths = s.ListField(
        child=StrField(), help_text="Globs of paths that need a scope pattern without wildcards."
    )
    approvable = s.ListField(child=StrField(), help_text="Error types that a person may approve.")
    approval_timeout_minutes = IntField(min_value=1)
    conflicts = s.ChoiceField(
        choices=["allow", "ask", "deny"],
        help_text="For a file that another live session changed, or that another intent in progress owns.",
    )
    freeze_after_denials = IntField(
        min_value=0,
        help_text="Freeze a session after this many different denied attempts at one target; 0: never.",
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
        responses=schema.responses_for(200, PolicyAnswer),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        return Response(policy.read_policy(self.workspace))

    @extend_schema(
        operation_id="policy_change", summary="Set keys of the policy; they take effect on the next call",
        request=PolicyAnswer(partial=True),
        responses={**schema.responses_for(200, PolicyAnswer, 415), 400: INVALID},
        examples=[OpenApiExample("Try it out first", value={"enforcement": "monitor"}, request_only=True)],
    )  # fmt: skip
    def patch(self, request: Request) -> Response:
        return Response(policy.change_policy(self.workspace, request.data, actor=self.actor))
