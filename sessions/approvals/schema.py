"""Bodies of the approvals API, for OpenAPI and for validation."""

from __future__ import annotations

from rest_framework import serializers as s

from controlplane.api.fields import Text, Whole, YesNo
from sessions.api_schema import Body
from sessions.models import Approval


class ReachAnswer(Body):
    level = s.ChoiceField(choices=["narrow", "medium", "wide"])
    why = Text()


class ApprovalAnswer(Body):
    id = Text()
    status = s.ChoiceField(choices=Approval.Status.values)
    kind = s.ChoiceField(choices=Approval.Kind.values)
    url = Text()
    session_id = Text()
    agent = Text()
    intent_id = Text(allow_null=True)
    intent_revision = Whole(allow_null=True)
    tool = Text(allow_null=True)
    input = s.JSONField(allow_null=True, help_text="As the agent sent it, secrets masked and long texts cut.")
    targets = s.ListField(child=s.DictField())
    offending = s.ListField(child=Text())
    unknown = s.ListField(child=s.DictField())
    error_type = Text(allow_null=True)
    reason = Text(allow_null=True)
    error = Text(allow_null=True)
    reach = ReachAnswer()
    requested_at = s.DateTimeField()
    expires_at = s.DateTimeField()
    decided_at = s.DateTimeField(allow_null=True)
    decided_by = Text(allow_null=True)
    grant = Text(allow_null=True)
    patterns = s.ListField(child=Text())
    minutes = Whole(allow_null=True)
    comment = Text(allow_null=True)


class DecidedAnswer(ApprovalAnswer):
    lesson_id = Text(
        allow_null=True, help_text="The lesson that the rejection was kept as, known before or not."
    )


class ApprovalPage(Body):
    results = ApprovalAnswer(many=True)
    next = Text(allow_null=True)


class DecideBody(Body):
    action = s.ChoiceField(choices=["approve", "reject"])
    grant = s.ChoiceField(choices=["once", "session", "scope"], default="once")
    patterns = s.ListField(child=Text(max_length=512), required=False, max_length=50)
    minutes = Whole(required=False, allow_null=True, min_value=1, max_value=7 * 24 * 60)
    comment = Text(required=False, allow_blank=True, max_length=4000, help_text="Text for the agent.")
    lesson = YesNo(default=False, help_text="Keep the `comment` of a rejection as a lesson about its files.")
