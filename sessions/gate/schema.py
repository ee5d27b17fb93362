"""Answers of the gate's API, for OpenAPI. Its request body is described by `request.GateBody`."""

from __future__ import annotations

from rest_framework import serializers as s

from controlplane.api.fields import BoolField, StrField
from sessions.api_schema import STATES, Body
from sessions.approvals.schema import EffectAnswer
from sessions.models import Approval


class ApprovalBrief(Body):
    id = StrField()
    status = s.ChoiceField(choices=Approval.Status.values)
    url = StrField()
    expires_at = s.DateTimeField()


class ContainmentTerms(Body):
    """How an allowed command must be run (contract 8)."""

    run_id = StrField()
    writable = s.ListField(child=StrField(), help_text="The scope: what is changed there lands.")
    hidden = s.ListField(
        child=StrField(), help_text="gitignore patterns of files that must not exist for it."
    )
    places = s.ListField(child=StrField(), help_text="Scratch folders outside of the workspace.")
    network = s.ChoiceField(choices=["none", "open"])
    seconds = s.IntegerField(help_text="How long it may take.")


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
    effects = EffectAnswer(many=True, help_text="Of every part of a shell command, and of an external tool.")
    approval = ApprovalBrief(allow_null=True)
    containment = ContainmentTerms(
        allow_null=True, help_text="The command may run, but only so; a client that cannot must not run it."
    )
    override = s.DictField(allow_null=True, help_text="The grant that turned a denial into allow.")
    context = StrField(
        allow_null=True, help_text="The <intent_context>, or what another tool of the handshake answers."
    )  # type: ignore[assignment]  # declared, not the property
    content_hashes = s.DictField(
        child=StrField(),
        required=False,
        help_text="Current hashes of the files that a read names, for `expected_content_hash` of a write.",
    )
    would_be = s.ChoiceField(
        choices=["deny", "ask"], allow_null=True, help_text="The decision, where policy only monitors."
    )


class GateRefusal(GateAnswer):
    """The same envelope with `decision: deny`, for 400, 401, 403 and 5xx."""
