"""Serve the page of interruptions; make rules and take them back. Posts redirect."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from controlplane.models import Role
from controlplane.shared.access import MemberRequest, display_name, has_role, member_page
from controlplane.shared.errors import DomainError
from controlplane.templatetags.names import agent_title
from intents.models import WorkspaceRule
from intents.rules.command_rules import NewRule, add_rule, find_rule, list_rules, remove_rule
from sessions.interruptions.chart import build_chart
from sessions.interruptions.figures import InterruptionFigures, compute_figures
from sessions.interruptions.proposals import RuleProposal, find_proposal, list_proposals, to_new_rule
from sessions.interruptions.rows import build_kind_row, label_effect, label_kind, list_rule_rows
from traces.counts.decisions import DecisionFilters
from traces.models import EntryKind, LedgerEntry

RANGES = {"24h": 1, "7d": 7, "14d": 14, "30d": 30}
DEFAULT_RANGE = "14d"
MIN_CALLS = 100  # below, a rate says nothing
MAX_KINDS, MAX_BARS, MAX_CHOICES = 12, 5, 50


@require_safe
@never_cache
@member_page()
def interruptions(request: MemberRequest) -> HttpResponse:
    filters, span = _read_filters(request)
    figures = compute_figures(filters)
    workspace_id = request.workspace.pk
    proposals = {item.kind: item for item in list_proposals(workspace_id)}
    rows = [build_kind_row(kind, proposals.get(kind.kind)) for kind in figures.kinds]
    may_edit = has_role(request.role, Role.ADMIN)
    context = {
        "figures": figures,
        "has_enough_calls": figures.calls >= MIN_CALLS,
        "chart": build_chart(figures.days, _list_changes(filters)),
        "kind_bars": _list_bars([(label_kind(row.kind), row.asks) for row in figures.kinds]),
        "effect_bars": _list_bars([(label_effect(name), number) for name, number in figures.effects]),
        "rows": rows[:MAX_KINDS],
        "more_kinds": max(0, len(rows) - MAX_KINDS),
        "rules": list_rule_rows(workspace_id),
        "may_edit": may_edit,
        "span": span,
        "ranges": [(name, _build_query(request, range=name)) for name in RANGES],
        "agents": _list_choices(figures.agents, agent_title),
        "intents": _list_choices(figures.intents, str),
        "agent": filters.agent,
        "intent": filters.intent_id,
        "proposal": _find_offered(request, proposals) if may_edit else None,
        "next_number": _next_number(workspace_id),
    }
    return render(request, "interruptions/interruptions.html", context)


@require_POST
@member_page(Role.ADMIN)
def make_rule(request: MemberRequest) -> HttpResponse:
    """Make the rule that past decisions suggest, or bring back one that was just taken back."""
    kind = request.POST.get("kind", "")
    proposal = find_proposal(request.workspace.pk, kind)
    owner = display_name(request.user)
    try:
        if proposal is not None and proposal.is_offered:
            new = to_new_rule(proposal, owner)
        else:
            new = _restore(request, kind, owner)
        rule = add_rule(request.workspace, new, actor=_actor(request))
    except DomainError as error:
        messages.error(request, error.error)
    else:
        text = gettext("Rule %(number)d is made: %(kind)s runs without asking from the next call on.")
        messages.success(request, text % {"number": rule.number, "kind": rule.kind})
    return redirect("interruptions:page", request.workspace.slug)


@require_POST
@member_page(Role.ADMIN)
def take_back_rule(request: MemberRequest, rule_id: str) -> HttpResponse:
    rule = find_rule(request.workspace.pk, rule_id)
    if rule is None:
        raise Http404
    if remove_rule(rule, actor=_actor(request), by=display_name(request.user)):
        text = gettext("Rule %(number)d is revoked: the next %(kind)s asks again.")
        messages.success(request, text % {"number": rule.number, "kind": rule.kind})
    else:
        messages.info(request, gettext("That rule was already revoked."))
    return redirect("interruptions:page", request.workspace.slug)


def compute_recent_figures(workspace_id: int) -> InterruptionFigures:
    """Return the figures of the default range, for the overview."""
    now = timezone.now()
    return compute_figures(DecisionFilters(workspace_id, now - timedelta(days=RANGES[DEFAULT_RANGE]), now))


def _restore(request: MemberRequest, kind: str, owner: str) -> NewRule:
    """Return the newest rule about a kind as a new one. Raise Http404 where there was none."""
    rules = WorkspaceRule.objects.for_workspace(request.workspace.pk).filter(kind=kind)
    rule = rules.order_by("-number").first()
    if rule is None:
        raise Http404
    return NewRule(rule.kind, rule.permission, owner, rule.reason, learned_from=rule.learned_from)


def _read_filters(request: MemberRequest) -> tuple[DecisionFilters, str]:
    span = request.GET.get("range", "")
    span = span if span in RANGES else DEFAULT_RANGE
    now = timezone.now()
    since = now - timedelta(days=RANGES[span])
    agent, intent_id = request.GET.get("agent", "")[:100], request.GET.get("intent", "")[:200]
    return DecisionFilters(request.workspace.pk, since, now, agent, intent_id), span


def _find_offered(request: MemberRequest, proposals: dict[str, RuleProposal]) -> RuleProposal | None:
    proposal = proposals.get(request.GET.get("make", ""))
    return proposal if proposal is not None and proposal.is_offered else None


def _list_changes(filters: DecisionFilters) -> list[tuple[date, str]]:
    """Return when rules and the policy changed in the interval. 2 queries."""
    rules = [rule for rule in list_rules(filters.workspace_id) if rule.created_at >= filters.since]
    changes = [(rule.created_at.date(), f"Rule {rule.number}: {rule.kind}") for rule in rules]
    entries = LedgerEntry.objects.filter(
        workspace_id=filters.workspace_id,
        kind=EntryKind.POLICY,
        outcome="changed",
        received_at__gte=filters.since,
        received_at__lt=filters.until,
    )
    days = {at.date() for at in entries.values_list("received_at", flat=True)[:100]}
    return sorted([*changes, *((day, gettext("Policy changed")) for day in days)])


def _list_bars(counts: list[tuple[str, int]]) -> list[dict[str, Any]]:
    """Return the largest counts and the sum of the others, each with the largest for its bar."""
    top, rest = counts[:MAX_BARS], counts[MAX_BARS:]
    others = sum(number for _, number in rest)
    if others:
        label = gettext("%(number)d others") % {"number": len(rest)}
        top = [*top, (label, others)]
    largest = max((number for _, number in top), default=1)
    return [{"label": label, "number": number, "largest": largest} for label, number in top]


def _list_choices(counts: Iterable[tuple[str, int]], label: Any) -> list[tuple[str, str]]:
    # A name with control characters could not be told from another one in a list of choices.
    names = [name for name, _ in counts if name and name.isprintable()]
    return [(name, label(name)) for name in names[:MAX_CHOICES]]


def _build_query(request: MemberRequest, **changes: str) -> str:
    names = {name: request.GET[name] for name in ("range", "agent", "intent") if request.GET.get(name)}
    return "?" + urlencode({**names, **changes})


def _next_number(workspace_id: int) -> int:
    newest = WorkspaceRule.objects.for_workspace(workspace_id).order_by("-number").first()
    return newest.number + 1 if newest is not None else 1


def _actor(request: MemberRequest) -> str:
    return f"user:{request.user.pk}:{display_name(request.user)}"
