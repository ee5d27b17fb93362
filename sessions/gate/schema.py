"""Bodies of the gate's API, for OpenAPI."""

from __future__ import annotations

from rest_framework import serializers as s

from controlplane.api.fields import BoolField, StrField
from sessions.api_schema import STATES, AgentBody, Body
from sessions.models import Approval


class GateBody(Body):
    session_id = StrField(max_length=200)
    tool = StrField(max_length=200)
    input = s.JSONField(help_text="The tool's input, a JSON object of at most 1 MiB.")
    tool_use_id = StrField(required=False, allow_null=True, max_length=200)
    cwd = StrField(required=False, allow_null=True, allow_blank=True, max_length=4096)
    root = StrField(required=False, allow_null=True, allow_blank=True, max_length=4096)  # type: ignore[assignment]  # declared, not the property
    agent = AgentBody(required=False, allow_null=True)
    current_content_hashes = s.DictField(
        child=StrField(allow_null=True, allow_blank=True), required=False, allow_null=True
    )
    links = s.DictField(
        child=StrField(),
        required=False,
        allow_null=True,
        help_text="Paths of the workspace that stand for other places on the agent's machine, each with that "
        "place, relative to the root or absolute. Both names must be allowed; a hint opens nothing.",
    )
    wait_seconds = s.FloatField(required=False, min_value=0, max_value=55)
    dry_run = BoolField(required=False)
    revision_id = StrField(required=False, allow_null=True, allow_blank=True, max_length=200)


class ApprovalBrief(Body):
    id = StrField()
    status = s.ChoiceField(choices=Approval.Status.values)
    url = StrField()
    expires_at = s.DateTimeField()


class GateAnswer(Body):
    decision = s.ChoiceField(choices=["allow", "deny", "ask"])
    decision_id = StrField(allow_null=True)
    session_id = StrField(allow_null=True)
    state = s.ChoiceField(choices=STATES, allow_null=True)
    status = s.ChoiceField(choices=["ok", "error"])
    message = StrField(allow_null=True)
    error = StrField(allow_null=True, help_text="For the agent: what was wrong and what to do next.")
    error_type = StrField(allow_null=True)
    reason = StrField(allow_null=True)
    recoverable = BoolField(allow_null=True)
    action_hint = StrField(allow_null=True)
    classification = s.ChoiceField(choices=["safe", "destructive", "handshake"], allow_null=True)
    targets = s.ListField(child=StrField())
    intent_id = StrField(allow_null=True)
    approval = ApprovalBrief(allow_null=True)
    override = s.DictField(allow_null=True, help_text="The grant that turned a denial into allow.")
    context = StrField(allow_null=True, help_text="The <intent_context>, when the call was the handshake.")  # type: ignore[assignment]  # declared, not the property
    would_be = s.ChoiceField(
        choices=["deny", "ask"], allow_null=True, help_text="The decision, where policy only monitors."
    )


class GateRefusal(GateAnswer):
    """The same envelope with `decision: deny`, for 400, 401, 403 and 5xx."""
