"""Bodies of the stops API, for OpenAPI and for validation."""

from __future__ import annotations

from rest_framework import serializers as s

from controlplane.api.fields import StrField
from controlplane.models import EmergencyStop
from sessions.api_schema import Body
from sessions.stops.store import MAX_REASON_LENGTH

KINDS = EmergencyStop.Kind.values


class NewStopBody(Body):
    kind = s.ChoiceField(choices=KINDS, default=EmergencyStop.Kind.WORKSPACE.value)
    subject = StrField(
        required=False,
        allow_blank=True,
        max_length=200,
        help_text="The agent's name or the session's id; left out for the workspace.",
    )
    reason = StrField(
        required=False, allow_blank=True, max_length=MAX_REASON_LENGTH, help_text="Agents are told."
    )


class StopAnswer(Body):
    id = StrField()
    kind = s.ChoiceField(choices=KINDS)
    subject = StrField(allow_null=True)
    reason = StrField(allow_null=True)
    stopped_by = StrField()
    stopped_at = s.DateTimeField()
    lifted_by = StrField(allow_null=True)
    lifted_at = s.DateTimeField(allow_null=True)


class StopsAnswer(Body):
    results = StopAnswer(many=True, help_text="Those that hold, and those that were lifted, newest first.")
    next = StrField(allow_null=True)
