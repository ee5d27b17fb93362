"""Request and response bodies of the approvals API, for OpenAPI and for validation."""

from __future__ import annotations

from rest_framework import serializers as s

from controlplane.api.fields import BoolField, IntField, StrField
from controlplane.policy.effects import MAX_KIND_LENGTH, Effect
from intents.api.schema import EvidenceField
from sessions.api_schema import Body
from sessions.approvals.batch.decide import MAX_APPROVALS
from sessions.approvals.grants import GRANT_KINDS
from sessions.models import Approval


class ReachAnswer(Body):
    level = s.ChoiceField(choices=["narrow", "medium", "wide"])
    why = StrField()


class EffectAnswer(Body):
    part = StrField(help_text="The part of the command, as the agent wrote it.")
    kind = StrField(
        allow_null=True, help_text="Program and subcommand; null where nobody can tell, or it is dangerous."
    )
    effect = s.ChoiceField(choices=list(Effect))
    risk = s.ChoiceField(choices=["none", "low", "medium", "high"])
    why = StrField()


class RefusedPart(Body):
    kind = StrField()
    effect = s.ChoiceField(choices=list(Effect))


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
    kinds = s.ListField(child=StrField(), help_text="Kinds that were granted; before that, requested.")
    access = StrField(allow_null=True, help_text="Of a plan: read or write.")
    effects = EffectAnswer(many=True, help_text="What each part of the command does.")
    refused = RefusedPart(many=True, help_text="The parts that nobody had permitted.")
    suggested_kinds = s.ListField(
        child=StrField(), help_text="What the card offers until the session ends; empty: this call alone."
    )
    minutes = IntField(allow_null=True)
    comment = StrField(allow_null=True)
    acceptance_evidence = EvidenceField()


class DecidedAnswer(ApprovalAnswer):
    lesson_id = StrField(
        allow_null=True, help_text="The lesson that the rejection was kept as, known before or not."
    )


class ApprovalPage(Body):
    results = ApprovalAnswer(many=True)
    next = StrField(allow_null=True)


class BatchDecideBody(Body):
    ids = s.ListField(child=StrField(max_length=64), min_length=1, max_length=MAX_APPROVALS)
    action = s.ChoiceField(choices=["approve", "reject"])
    grant = s.ChoiceField(choices=GRANT_KINDS, default="once")
    minutes = IntField(required=False, allow_null=True, min_value=1, max_value=7 * 24 * 60)
    comment = StrField(required=False, allow_blank=True, max_length=4000, help_text="Text for the agents.")


class BatchResultAnswer(Body):
    id = StrField()
    ok = BoolField(help_text="Whether the answer took effect.")
    status = StrField(allow_null=True, help_text="Of the approval now; null where there is none of this id.")
    decided_by = StrField(allow_null=True)
    grant = StrField(allow_null=True)
    error = StrField(allow_null=True)
    error_type = StrField(
        allow_null=True, help_text="NOT_FOUND, NOT_OPENED, ALREADY_DECIDED or another one of `decide`."
    )


class BatchAnswer(Body):
    results = BatchResultAnswer(many=True, help_text="One for each id, in the order of the request.")


class DecideBody(Body):
    action = s.ChoiceField(choices=["approve", "reject"])
    grant = s.ChoiceField(
        choices=GRANT_KINDS,
        default="once",
        help_text="`session`: until it ends, or for `minutes`; `intent`: until it closes, in each session; "
        "`workspace`: a rule for all, by an admin; `scope`: a revision of the intent.",
    )
    patterns = s.ListField(
        child=StrField(max_length=4096),
        required=False,
        max_length=20_000,
        help_text="What the grant covers; of a contained run, the changes that land. Without it, all.",
    )
    kinds = s.ListField(
        child=StrField(max_length=MAX_KIND_LENGTH),
        required=False,
        max_length=50,
        help_text="The kinds of commands that the grant covers, instead of this one call.",
    )
    minutes = IntField(required=False, allow_null=True, min_value=1, max_value=7 * 24 * 60)
    comment = StrField(required=False, allow_blank=True, max_length=4000, help_text="Text for the agent.")
    tool_reads_only = BoolField(
        default=False, help_text="Say that the MCP tool of this call only reads, for all; by an admin."
    )
    lesson = BoolField(
        default=False, help_text="Keep the `comment` of a rejection as a lesson about its files."
    )
