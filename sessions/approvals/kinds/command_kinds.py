"""Kinds of commands in grants: which a card offers, which a reviewer may choose, and rules made of them."""

from __future__ import annotations

from controlplane.policy.effects import MAX_KINDS, find_kind_problem, suggest_kinds
from intents.models import WorkspaceRule
from intents.rules.command_rules import NewRule, add_rule, remove_rule
from sessions.approvals.decision_input import Decider, DecisionInput
from sessions.errors import InvalidGrantError
from sessions.models import Approval

GRANTS_BY_KIND = frozenset({"session", "intent", "workspace"})
NO_KIND = "This call has no part whose kind could be granted: approve it once."


def suggest_approval_kinds(approval: Approval) -> tuple[str, ...]:
    """Return the kinds that a card offers by default: those of the parts that nobody has permitted.

    Empty where one of these parts has no kind. It cannot be told what the part is, or it is a dangerous form.
    """
    return suggest_kinds(part["kind"] for part in approval.refused)


def choose_kinds(approval: Approval, grant: str, decision: DecisionInput) -> tuple[str, ...]:
    """Return the kinds that the grant covers. Raise InvalidGrantError where it cannot cover them."""
    kinds = tuple(dict.fromkeys(decision.kinds or ()))
    if grant == "workspace" and decision.kinds is None:
        kinds = suggest_approval_kinds(approval)
        if not kinds:
            raise InvalidGrantError(NO_KIND)
    if not kinds:
        return ()
    validate_kinds(kinds)
    if grant not in GRANTS_BY_KIND:
        raise InvalidGrantError("kinds: choose the grant session, intent or workspace with them.")
    if approval.kind == Approval.Kind.CALL:
        _require_cover(approval, kinds)
    return kinds


def validate_kinds(kinds: tuple[str, ...]) -> None:
    """Raise InvalidGrantError for a text that is no kind, and for too many of them."""
    problem = next(filter(None, map(find_kind_problem, kinds)), None)
    if problem is None and len(kinds) > MAX_KINDS:
        problem = f"More than {MAX_KINDS}."
    if problem is not None:
        raise InvalidGrantError(f"kinds: {problem}")


def make_rules(approval: Approval, kinds: tuple[str, ...], decider: Decider) -> None:
    """Make a rule of each kind that has none, and replace rules that ask.

    Run it in the transaction of the decision.
    """
    live = WorkspaceRule.objects.for_workspace(approval.workspace_id).live().filter(kind__in=kinds)
    existing = {rule.kind: rule for rule in live}
    for kind in kinds:
        rule = existing.get(kind)
        if rule is not None and rule.permission == WorkspaceRule.Permission.ALLOW:
            continue
        if rule is not None:
            remove_rule(rule, actor=decider.actor, by=decider.name)
        new = NewRule(kind, owner=decider.name, approval_id=approval.public_id)
        add_rule(approval.workspace, new, actor=decider.actor)


def _require_cover(approval: Approval, kinds: tuple[str, ...]) -> None:
    """Raise InvalidGrantError where the call would ask again: the agent would stay blocked."""
    if not approval.refused:
        raise InvalidGrantError(f"kinds: {NO_KIND}")
    if any(not part["kind"] for part in approval.refused):
        raise InvalidGrantError(
            "kinds: a part of this call has no kind to grant: it is unknown, or a dangerous form."
        )
    missing = [part["kind"] for part in approval.refused if part["kind"] not in kinds]
    if missing:
        raise InvalidGrantError(f"kinds: none of them is {missing[0]}, which the call runs.")
