"""Add, list and remove what a workspace says to kinds of commands (contract 4, rules).

Each change is one transaction with a ledger entry and a new revision of the workspace, so that it holds from
the next call on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone

from controlplane.models import Workspace
from controlplane.policy.effects import MAX_KINDS, CommandRule, Permission, find_kind_problem
from controlplane.policy.model import Decision, Snapshot, Verdict
from controlplane.shared.errors import ConflictError, InvalidInputError
from intents.models import WorkspaceRule
from traces.ledger.append import NewEntry, append


@dataclass(frozen=True, slots=True)
class NewRule:
    """A rule to add. `learned_from` says which past decisions suggested it."""

    kind: str
    permission: str = WorkspaceRule.Permission.ALLOW.value
    owner: str = ""
    reason: str = ""
    approval_id: str = ""
    learned_from: Mapping[str, Any] = field(default_factory=dict)


def list_rules(workspace_id: int) -> list[WorkspaceRule]:
    """Return the live rules, newest first. 1 query."""
    return list(WorkspaceRule.objects.for_workspace(workspace_id).live().order_by("-number"))


def load_core_rules(workspace_id: int) -> tuple[CommandRule, ...]:
    """Return the live rules as decisions need them. 1 query."""
    rows = WorkspaceRule.objects.for_workspace(workspace_id).live().values_list("kind", "permission")
    return tuple(CommandRule(kind, Permission(permission)) for kind, permission in rows)


def add_rule(workspace: Workspace, new: NewRule, *, actor: str) -> WorkspaceRule:
    """Add a rule. Raise InvalidInputError for a malformed kind, ConflictError where the kind has one."""
    problem = find_kind_problem(new.kind)
    if problem is not None:
        raise InvalidInputError(f"kind: {problem}")
    with transaction.atomic():
        locked = Workspace.objects.select_for_update().get(pk=workspace.pk)
        rows = WorkspaceRule.objects.for_workspace(locked.pk)
        existing = rows.live().filter(kind=new.kind).first()
        if existing is not None:
            raise ConflictError(f"Rule {existing.number} decides about {new.kind} already.")
        if rows.live().count() >= MAX_KINDS:
            raise ConflictError(f"A workspace holds at most {MAX_KINDS} rules. Remove one first.")
        rule = WorkspaceRule.objects.add(
            locked,
            number=(rows.aggregate(last=Max("number"))["last"] or 0) + 1,
            kind=new.kind,
            permission=new.permission,
            owner=new.owner[:200],
            reason=new.reason,
            approval_id=new.approval_id,
            learned_from=dict(new.learned_from),
            created_at=timezone.now(),
        )
        _record(rule, "added", actor)
    return rule


def remove_rule(rule: WorkspaceRule, *, actor: str, by: str) -> bool:
    """Take a rule back from the next call on; False when somebody was first."""
    with transaction.atomic():
        if not WorkspaceRule.objects.remove(rule, by):
            return False
        rule.refresh_from_db()
        _record(rule, "removed", actor)
    return True


def find_rule(workspace_id: int, public_id: str) -> WorkspaceRule | None:
    return WorkspaceRule.objects.for_workspace(workspace_id).filter(public_id=public_id).first()


def find_used_kinds(decision: Decision, snapshot: Snapshot) -> frozenset[str]:
    """Return the kinds that ran because a rule of the workspace allows them, and nothing nearer does."""
    if decision.verdict is not Verdict.ALLOW or not snapshot.command_rules or not decision.effects:
        return frozenset()
    rules = {rule.kind for rule in snapshot.command_rules if rule.permission is Permission.ALLOW}
    nearer = set(snapshot.intent.allowed_commands) if snapshot.intent is not None else set()
    return frozenset(
        effect.kind
        for effect in decision.effects
        if effect.kind in rules - nearer
        and not effect.is_listed
        and snapshot.policy.permission_for(effect.effect) is not Permission.ALLOW
    )


def count_uses(workspace_id: int, kinds: Collection[str], now: datetime) -> None:
    """Note that calls of these kinds ran because of their rules. No decision depends on it."""
    rules = WorkspaceRule.objects.for_workspace(workspace_id).live().filter(kind__in=kinds)
    rules.update(uses=F("uses") + 1, last_used_at=now)


def represent_rule(rule: WorkspaceRule) -> dict[str, Any]:
    """Render a rule for REST and for the ledger."""
    return {
        "id": rule.public_id,
        "number": rule.number,
        "kind": rule.kind,
        "permission": rule.permission,
        "owner": rule.owner,
        "reason": rule.reason or None,
        "approval_id": rule.approval_id or None,
        "learned_from": rule.learned_from or None,
        "revision": rule.workspace_revision,
        "created_at": _format(rule.created_at),
        "removed_at": _format(rule.removed_at),
        "removed_by": rule.removed_by or None,
        "uses": rule.uses,
        "last_used_at": _format(rule.last_used_at),
    }


def _record(rule: WorkspaceRule, event: str, actor: str) -> None:
    body = {"what": "rule", **represent_rule(rule)}
    append(NewEntry(workspace_id=rule.workspace_id, kind="policy", body=body, outcome=event, actor=actor))


def _format(time: datetime | None) -> str | None:
    return time.isoformat().replace("+00:00", "Z") if time else None
