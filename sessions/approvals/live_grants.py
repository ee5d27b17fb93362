"""List the grants under which agents may act now without another approval."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils import timezone

from controlplane.models import Role, Workspace
from controlplane.shared.access import has_role
from controlplane.templatetags.names import agent_title
from sessions.approvals.card.subjects import describe_subject
from sessions.models import AgentSession, ApprovalGrant

MAX_GRANTS = 100


@dataclass(frozen=True, slots=True)
class GrantRow:
    pattern: str
    recipient: str
    until: datetime | None  # None: `end` says when
    end: str
    used: int
    by: str
    revoke_url: str | None


def list_grant_rows(workspace: Workspace, role: Role) -> list[GrantRow]:
    """Return the live grants, newest first (1 query). Only those who may decide may revoke."""
    rows = ApprovalGrant.objects.usable(timezone.now()).filter(session__workspace=workspace)
    rows = rows.select_related("session", "approval__session").order_by("-pk")
    return [_build_row(grant, workspace, role) for grant in rows[:MAX_GRANTS]]


def find_grant(workspace: Workspace, grant_id: str) -> ApprovalGrant | None:
    rows = ApprovalGrant.objects.select_related("session", "approval")
    return rows.filter(session__workspace=workspace, public_id=grant_id).first()


def count_open_sessions(workspace: Workspace) -> int:
    return AgentSession.objects.filter(workspace=workspace).not_ended().count()


def _describe_recipient(grant: ApprovalGrant) -> str:
    if grant.kind == ApprovalGrant.Kind.INTENT:
        return f"every session of {grant.intent_id}"
    once = grant.kind == ApprovalGrant.Kind.ONCE
    return f"{agent_title(grant.session.agent_name)}, {'this call once' if once else 'its session'}"


def _build_row(grant: ApprovalGrant, workspace: Workspace, role: Role) -> GrantRow:
    return GrantRow(
        pattern=", ".join((*grant.kinds, *grant.patterns, *grant.places))
        or describe_subject(grant.approval).object,
        recipient=_describe_recipient(grant),
        until=grant.ends_at,
        end="the intent closes" if grant.kind == ApprovalGrant.Kind.INTENT else "the session ends",
        used=1 if grant.used_at else 0,
        by=grant.approval.decider,
        revoke_url=reverse("approvals:revoke", args=[workspace.slug, grant.public_id])
        if has_role(role, Role.REVIEWER)
        else None,
    )
