"""Bodies of the rules and interruptions API, for OpenAPI and for validation."""

from __future__ import annotations

from rest_framework import serializers as s

from controlplane.api.fields import BoolField, IntField, StrField
from controlplane.policy.effects import MAX_KIND_LENGTH
from intents.models import WorkspaceRule
from sessions.api_schema import Body

PERMISSIONS = WorkspaceRule.Permission.values


class NewRuleBody(Body):
    kind = StrField(max_length=MAX_KIND_LENGTH, help_text="Program and subcommand: `git fetch`.")
    permission = s.ChoiceField(choices=PERMISSIONS, default=WorkspaceRule.Permission.ALLOW.value)
    reason = StrField(required=False, allow_blank=True, max_length=2000)


class RuleAnswer(Body):
    id = StrField()
    number = IntField(help_text="Counts the rules of the workspace; never given twice.")
    kind = StrField()
    permission = s.ChoiceField(choices=PERMISSIONS)
    owner = StrField()
    reason = StrField(allow_null=True)
    approval_id = StrField(allow_null=True, help_text="The approval that it was given with.")
    learned_from = s.DictField(allow_null=True, help_text="The past decisions that suggested it.")
    revision = IntField(help_text="The revision of the workspace that it made.")
    created_at = s.DateTimeField()
    removed_at = s.DateTimeField(allow_null=True)
    removed_by = StrField(allow_null=True)
    uses = IntField(help_text="Calls that ran because of it.")
    last_used_at = s.DateTimeField(allow_null=True)


class RulesAnswer(Body):
    results = RuleAnswer(many=True, help_text="The live rules, newest first.")
    next = StrField(allow_null=True)


class ProposalAnswer(Body):
    kind = StrField()
    effect = StrField()
    approved = IntField(help_text="In the last 90 days.")
    people = s.ListField(child=StrField(), help_text="Who approved.")
    rejected = IntField(help_text="Rejected questions that the rule would have allowed.")
    asks = IntField(help_text="Questions that hold this kind, in the last 14 days.")
    spared = IntField(help_text="Questions that the rule would have avoided in the last 14 days.")
    seconds_spared = s.FloatField(help_text="What was waited for them.")
    offered = BoolField()
    why_not = StrField(allow_null=True, help_text="Why no rule is offered.")


class ProposalsAnswer(Body):
    results = ProposalAnswer(many=True)
    next = StrField(allow_null=True)


class WaitAnswer(Body):
    median_seconds = s.FloatField(allow_null=True)
    total_seconds = s.FloatField()


class KindCount(Body):
    kind = StrField(help_text="Of the command; for a question about a path, its reason.")
    effect = StrField()
    asks = IntField()
    approved = IntField()
    rejected = IntField()
    people = IntField(help_text="How many decided.")
    median_seconds = s.FloatField(allow_null=True)


class EffectCount(Body):
    effect = StrField()
    asks = IntField()


class AgentCount(Body):
    agent = StrField()
    asks = IntField()


class IntentCount(Body):
    intent_id = StrField(allow_null=True)
    asks = IntField()


class DayCount(Body):
    day = s.DateField()
    calls = IntField()
    asks = IntField()
    asks_per_100_calls = s.FloatField(allow_null=True)


class InterruptionsAnswer(Body):
    since = s.DateTimeField()
    until = s.DateTimeField()
    calls = IntField(help_text="Decisions of the gate.")
    asks = IntField(help_text="Questions about calls that a person was asked.")
    sessions = IntField()
    sessions_without_asks = IntField()
    asks_per_100_calls = s.FloatField(allow_null=True)
    asks_per_session = s.FloatField(allow_null=True)
    approved = IntField()
    rejected = IntField()
    expired = IntField()
    share_approved = s.FloatField(allow_null=True, help_text="Of those that a person decided, 0 to 1.")
    time_waited = WaitAnswer()
    by_kind = KindCount(many=True)
    by_effect = EffectCount(many=True)
    by_agent = AgentCount(many=True)
    by_intent = IntentCount(many=True)
    by_day = DayCount(many=True)
