"""REST for the rules of a workspace, those that past decisions suggest, and figures on interruptions."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.dateparse import parse_datetime
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api.errors import ApiError, ErrorAnswer
from controlplane.api.views import WorkspaceView
from intents.models import WorkspaceRule
from intents.rules.command_rules import NewRule, add_rule, find_rule, list_rules, remove_rule, represent_rule
from sessions.api_schema import responses_for
from sessions.interruptions import schema
from sessions.interruptions.figures import InterruptionFigures, compute_figures
from sessions.interruptions.proposals import RuleProposal, find_proposal, list_proposals, to_new_rule
from traces.counts.decisions import DecisionFilters

DAYS, MAX_DAYS = 14, 366
NOT_FOUND = {404: OpenApiResponse(ErrorAnswer, description="No such rule in this workspace.")}


class RulesView(WorkspaceView):
    required_role = {"GET": "reviewer", "POST": "admin"}

    @extend_schema(
        operation_id="rules_list", summary="The rules about kinds of commands",
        responses=responses_for(200, schema.RulesAnswer),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        rules = list_rules(self.bearer.workspace_id)
        return Response({"results": [represent_rule(rule) for rule in rules], "next": None})

    @extend_schema(
        operation_id="rules_add", summary="Make a rule; it takes effect on the next call",
        request=schema.NewRuleBody,
        responses={
            **responses_for(201, schema.RuleAnswer, 415),
            409: OpenApiResponse(ErrorAnswer, description="The kind has a rule already."),
        },
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        body = schema.NewRuleBody(data=request.data)
        body.is_valid(raise_exception=True)
        new = _to_new_rule(self.bearer.workspace_id, dict(body.validated_data), self.bearer.name)
        return Response(represent_rule(add_rule(self.workspace, new, actor=self.actor)), status=201)


class RuleView(WorkspaceView):
    required_role = {"GET": "reviewer", "DELETE": "admin"}

    @extend_schema(
        operation_id="rules_get", summary="One rule, also a revoked one",
        responses={**responses_for(200, schema.RuleAnswer), **NOT_FOUND},
    )  # fmt: skip
    def get(self, request: Request, rule_id: str) -> Response:
        return Response(represent_rule(self._get_rule(rule_id)))

    @extend_schema(
        operation_id="rules_remove", summary="Revoke a rule; the next call asks again",
        responses={**responses_for(204, None), **NOT_FOUND},
    )  # fmt: skip
    def delete(self, request: Request, rule_id: str) -> Response:
        if not remove_rule(self._get_rule(rule_id), actor=self.actor, by=self.bearer.name):
            raise ApiError(404, "NOT_FOUND", f"Rule {rule_id} was already revoked.")
        return Response(status=204)

    def _get_rule(self, rule_id: str) -> WorkspaceRule:
        rule = find_rule(self.bearer.workspace_id, rule_id)
        if rule is None:
            raise ApiError(404, "NOT_FOUND", f"There is no rule {rule_id} in this workspace.")
        return rule


class ProposalsView(WorkspaceView):
    required_role = "reviewer"

    @extend_schema(
        operation_id="rules_proposals", summary="Rules that past decisions suggest",
        description="Offered: what 2 people approved 10 times in 90 days and nobody rejected.",
        responses=responses_for(200, schema.ProposalsAnswer),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        proposals = list_proposals(self.bearer.workspace_id)
        return Response({"results": list(map(_represent_proposal, proposals)), "next": None})


class InterruptionsView(WorkspaceView):
    required_role = "reviewer"

    @extend_schema(
        operation_id="interruptions", summary="How often people are asked, by what, and how it ends",
        parameters=[
            OpenApiParameter("since", OpenApiTypes.DATETIME, description="Default: 14 days ago."),
            OpenApiParameter("until", OpenApiTypes.DATETIME, description="Excluded. Default: now."),
            OpenApiParameter("agent", OpenApiTypes.STR, description="Only calls of this agent."),
            OpenApiParameter("intent", OpenApiTypes.STR, description="Only calls under this intent."),
        ],
        responses=responses_for(200, schema.InterruptionsAnswer),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        until = _read_time(request, "until") or timezone.now()
        since = _read_time(request, "since") or until - timedelta(days=DAYS)
        if not since < until <= since + timedelta(days=MAX_DAYS):
            raise ApiError(400, "INVALID_INPUT", f"since must be before until, by at most {MAX_DAYS} days.")
        filters = DecisionFilters(
            self.bearer.workspace_id,
            since,
            until,
            request.query_params.get("agent", ""),
            request.query_params.get("intent", ""),
        )
        return Response({"since": since, "until": until, **represent_figures(compute_figures(filters))})


def represent_figures(figures: InterruptionFigures) -> dict[str, Any]:
    return {
        "calls": figures.calls,
        "asks": figures.asks,
        "sessions": figures.sessions,
        "sessions_without_asks": figures.quiet_sessions,
        "asks_per_100_calls": _round(figures.per_100_calls),
        "asks_per_session": _round(figures.per_session),
        "approved": figures.approved,
        "rejected": figures.rejected,
        "expired": figures.expired,
        "share_approved": _round(figures.share_approved),
        "time_waited": {
            "median_seconds": _round(figures.median_seconds),
            "total_seconds": round(figures.total_seconds, 3),
        },
        "by_kind": [
            {
                "kind": row.kind,
                "effect": row.effect,
                "asks": row.asks,
                "approved": row.approved,
                "rejected": row.rejected,
                "people": row.people,
                "median_seconds": _round(row.median_seconds),
            }
            for row in figures.kinds
        ],
        "by_effect": [{"effect": effect, "asks": number} for effect, number in figures.effects],
        "by_agent": [{"agent": agent, "asks": number} for agent, number in figures.agents],
        "by_intent": [
            {"intent_id": intent_id or None, "asks": number} for intent_id, number in figures.intents
        ],
        "by_day": [
            {
                "day": day.day.isoformat(),
                "calls": day.calls,
                "asks": day.asks,
                "asks_per_100_calls": _round(day.rate),
            }
            for day in figures.days
        ],
    }


def _to_new_rule(workspace_id: int, data: dict[str, Any], owner: str) -> NewRule:
    """Return the rule that a body asks for; one that past decisions suggest says so."""
    is_allowed = data["permission"] == WorkspaceRule.Permission.ALLOW
    proposal = find_proposal(workspace_id, data["kind"]) if is_allowed else None
    reason = data.get("reason", "")
    if proposal is not None and proposal.is_offered:
        learned_from = to_new_rule(proposal, owner).learned_from
        return NewRule(data["kind"], owner=owner, reason=reason, learned_from=learned_from)
    return NewRule(data["kind"], data["permission"], owner=owner, reason=reason)


def _represent_proposal(proposal: RuleProposal) -> dict[str, Any]:
    return {
        "kind": proposal.kind,
        "effect": proposal.effect,
        "approved": proposal.approved,
        "people": list(proposal.people),
        "rejected": proposal.rejected,
        "asks": proposal.asks,
        "spared": proposal.spared,
        "seconds_spared": round(proposal.seconds_spared, 3),
        "offered": proposal.is_offered,
        "why_not": proposal.obstacle or None,
    }


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _read_time(request: Request, name: str) -> datetime | None:
    """Read an ISO 8601 time, UTC where it names no zone. Raise ApiError 400."""
    text = request.query_params.get(name, "").strip()
    if not text:
        return None
    # A `+` of an offset that nobody escaped arrives as a blank.
    text = text.replace(" ", "+") if "T" in text else text
    text = f"{text}T00:00:00" if len(text) == len("2026-01-31") else text
    try:
        time = parse_datetime(text)
    except ValueError:
        time = None
    if time is None:
        raise ApiError(400, "INVALID_INPUT", f"{name} must be an ISO 8601 time such as 2026-01-31T09:30:00Z.")
    return time if timezone.is_aware(time) else time.replace(tzinfo=timezone.get_default_timezone())
