"""Request and response bodies of the approvals API, for OpenAPI and for validation."""

from __future__ import annotations

from rest_framework import serializers as s

from controlplane.api.fields import BoolField, IntField, StrField
from sessions.api_schema import Body
from sessions.models import Approval


class ReachAnswer(Body):
    level = s.ChoiceField(choices=["narrow", "medium", "wide"])
    why = StrField()


class ApprovalAnswer(Body):
    id = StrField()
    status = s.ChoiceField(choices=Approval.Status.values)
    kind = s.ChoiceField(choices=Approval.Kind.values)
    url = StrField()
    session_id = StrField()
    agent = StrField()
    intent_id = StrField(allow_null=True)
    intent_revision = IntField(allow_null=True)
    tool = StrField(allow_null=True)
    input = s.JSONField(allow_null=True, help_text="As the agent sent it, secrets masked and long texts cut.")
    targets = s.ListField(child=s.DictField())
    offending = s.ListField(child=StrField())
    unknown = s.ListField(child=s.DictField())
    error_type = StrField(allow_null=True)
    reason = StrField(allow_null=True)
    error = StrField(allow_null=True)
    reach = ReachAnswer()
    requested_at = s.DateTimeField()
    expires_at = s.DateTimeField()
    decided_at = s.DateTimeField(allow_null=True)
    decided_by = StrField(allow_null=True)
    grant = StrField(allow_null=True)
    patterns = s.ListField(child=StrField())
    minutes = IntField(allow_null=True)
    comment = StrField(allow_null=True)


class DecidedAnswer(ApprovalAnswer):
    lesson_id = StrField(
        allow_null=True, help_text="The lesson that the rejection was kept as, known before or not."
    )


class ApprovalPage(Body):
    results = ApprovalAnswer(many=True)
    next = StrField(allow_null=True)


class DecideBody(Body):
    action = s.ChoiceField(choices=["approve", "reject"])
    grant = s.ChoiceField(choices=["once", "session", "scope"], default="once")
    patterns = s.ListField(child=StrField(max_length=512), required=False, max_length=50)
    minutes = IntField(required=False, allow_null=True, min_value=1, max_value=7 * 24 * 60)
    comment = StrField(required=False, allow_blank=True, max_length=4000, help_text="Text for the agent.")
    lesson = BoolField(
        default=False, help_text="Keep the `comment` of a rejection as a lesson about its files."
    )
