"""The overview page: pending approvals, decisions of a day, agents under the gate."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Max, Min, Q
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from controlplane.models import Role
from controlplane.pages.recent_calls import list_recent_calls
from controlplane.pages.trends import list_contested_files, list_reviewer_load, load_decision_bars
from controlplane.policy.model import IntentStatus, SessionState
from controlplane.shared.access import MemberRequest, display_name, has_role, member_page
from controlplane.templatetags.names import agent_title
from intents.models import Intent
from intents.rules.policy import read_policy
from sessions.approvals.card.subjects import describe_subject
from sessions.interruptions.pages import MIN_CALLS, compute_recent_figures
from sessions.interruptions.rows import label_kind
from sessions.models import AgentSession, Approval, ContainedRun
from sessions.stops.store import is_stopped
from traces.models import Checkpoint, EntryKind, LedgerEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from django.db.models import QuerySet
    from django.http import HttpResponse

    from controlplane.models import Workspace

DAY = timedelta(days=1)
WEEK = timedelta(days=7)
MAX_ROWS = 8  # rows of each list
OPEN = (IntentStatus.PENDING, IntentStatus.IN_PROGRESS, IntentStatus.BLOCKED)

# Labels of the gate's reasons; others read well with their underscores replaced.
REASONS = {
    "none_selected": _("No intent selected"),
    "not_in_scope": _("Outside the intent's scope"),
    "outside_workspace": _("Outside the workspace"),
    "unknown_target": _("Unknown target"),
    "empty_scope": _("Intent without scope"),
    "hash_mismatch": _("File changed since it was read"),
    "hash_required": _("Content hash missing"),
    "intentignore": _("Ignored by .intentignore"),
    "mutation_class_required": _("Mutation class missing"),
}


@dataclass(frozen=True, slots=True)
class CallCount:
    """Decisions of one agent with one outcome and reason in the last 24 hours."""

    agent: str
    outcome: str
    reason: str
    count: int
    last: datetime


@require_safe
@member_page()
def overview(request: MemberRequest) -> HttpResponse:
    """Render the overview, with `?fragment=figures` its figures. 20 queries in addition to the frame's."""
    workspace = request.workspace
    now = timezone.now()
    calls = count_calls_since(workspace.pk, now - DAY)
    policy = read_policy(workspace)
    idle = timedelta(minutes=policy["session_idle_minutes"])
    if request.GET.get("fragment") == "figures":
        figures = _compute_figures(workspace, calls, idle, now)
        return render(request, "overview/_figures.html", {"figures": figures})
    own_name = display_name(request.user) if request.role == Role.REVIEWER else None
    interruptions = compute_recent_figures(workspace.pk)
    context = {
        "figures": _compute_figures(workspace, calls, idle, now),
        "waiting": list_waiting(workspace, now),
        "days": load_decision_bars(workspace.pk, now),
        "contested": list_contested_files(workspace.pk, now),
        "reviewers": list_reviewer_load(workspace, own_name),
        "is_own": own_name is not None,
        "recent": list_recent_calls(workspace.pk, MAX_ROWS),
        "agents": list(_list_agents(workspace, calls, policy["enforcement"], now)),
        "denials": list_top_denials(calls),
        "enforcement": policy["enforcement"],
        "may_stop": has_role(request.role, Role.ADMIN) and not is_stopped(workspace),
        "interruptions": interruptions,
        "has_enough_calls": interruptions.calls >= MIN_CALLS,
        "most_often": label_kind(interruptions.kinds[0].kind) if interruptions.kinds else "",
        "sealed": Checkpoint.objects.filter(workspace_id=workspace.pk).aggregate(most=Max("size"))["most"],
    }
    return render(request, "overview.html", context)


def count_calls_since(workspace_id: int, since: datetime) -> list[CallCount]:
    """Count decisions by agent, outcome and reason. 1 grouped query."""
    rows = LedgerEntry.objects.filter(
        workspace_id=workspace_id, kind=EntryKind.DECISION, received_at__gte=since
    ).order_by()
    grouped = rows.values_list("agent", "outcome", "reason")
    return [CallCount(*row) for row in grouped.annotate(count=Count("pk"), last=Max("received_at"))]


def list_top_denials(calls: Iterable[CallCount]) -> list[dict[str, Any]]:
    """Return the reasons of denials and held calls, most frequent first."""
    counts: Counter[str] = Counter()
    for call in calls:
        if call.outcome != "allow":
            counts[call.reason] += call.count
    top = counts.most_common(MAX_ROWS)
    return [
        {
            "reason": REASONS.get(reason, reason.replace("_", " ").capitalize()),
            "number": number,
            "most": top[0][1],
        }
        for reason, number in top
    ]


def _compute_figures(
    workspace: Workspace, calls: list[CallCount], idle: timedelta, now: datetime
) -> dict[str, Any]:
    number = sum(call.count for call in calls)
    allowed = sum(call.count for call in calls if call.outcome == "allow")
    live_sessions = AgentSession.objects.filter(workspace=workspace, last_seen_at__gt=now - idle).exclude(
        state=SessionState.ENDED
    )
    intents = Intent.objects.filter(workspace=workspace)
    return {
        **count_pending(workspace, now),
        "decisions": number,
        "allowed_percent": round(100 * allowed / number) if number else None,
        **live_sessions.aggregate(sessions=Count("pk"), holding=Count("intent")),
        **intents.aggregate(intents=Count("pk"), open_intents=Count("pk", filter=Q(status__in=OPEN))),
    }


def _pending(workspace: Workspace, now: datetime) -> QuerySet[Approval]:
    return Approval.objects.for_workspace(workspace.pk).decidable(now)


def count_pending(workspace: Workspace, now: datetime) -> dict[str, Any]:
    """Return how many approvals are pending and since when the oldest is. 1 query."""
    return _pending(workspace, now).aggregate(waiting=Count("pk"), oldest=Min("requested_at"))


def list_waiting(workspace: Workspace, now: datetime) -> list[dict[str, Any]]:
    """Return the approvals that wait longest. 1 query."""
    rows = _pending(workspace, now).select_related("session").order_by("requested_at")[:MAX_ROWS]
    return [_waiting_row(approval) for approval in rows]


def _waiting_row(approval: Approval) -> dict[str, Any]:
    subject = describe_subject(approval)
    return {
        "id": approval.public_id,
        "kind": subject.kind,
        "object": subject.object,
        "object_is": subject.object_is,
        "agent": agent_title(approval.session.agent_name),
        "intent_id": approval.intent_id,
        "opened_at": approval.requested_at,
        "expires_at": approval.expires_at,
    }


def _list_agents(
    workspace: Workspace, calls: list[CallCount], enforcement: str, now: datetime
) -> Iterator[dict[str, Any]]:
    """Yield agents seen within a week. Silent: a session is open, but a day passed without a gate call.

    `missing`: how many contained runs never told what they changed.
    """
    overdue = ContainedRun.objects.for_workspace(workspace.pk).filter(status=ContainedRun.Status.OVERDUE)
    recent_runs = overdue.filter(session__last_seen_at__gt=now - WEEK)
    missing = Counter(recent_runs.values_list("session__agent_name", flat=True))
    recent_sessions = AgentSession.objects.filter(workspace=workspace, last_seen_at__gt=now - WEEK).order_by()
    grouped = recent_sessions.values("agent_name").annotate(
        version=Max("agent_version"),
        last=Max("last_seen_at"),
        open=Count("pk", filter=~Q(state=SessionState.ENDED)),
    )
    for row in grouped.order_by("-last"):
        agent_calls = [call for call in calls if call.agent == row["agent_name"]]
        is_silent, late = row["open"] and not agent_calls, missing[row["agent_name"]]
        is_governed = enforcement == "enforce" and not late
        yield {
            "name": agent_title(row["agent_name"]),
            "version": row["version"],
            "state": "silent" if is_silent else "governed" if is_governed else "degraded",
            "missing": late,
            "last_call": max((call.last for call in agent_calls), default=row["last"]),
            "calls": sum(call.count for call in agent_calls),
            "denied": sum(call.count for call in agent_calls if call.outcome == "deny"),
        }
