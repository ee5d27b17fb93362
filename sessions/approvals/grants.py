"""Apply what an approval gives: this call once, a rule for session, intent or workspace, or a wider scope."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from controlplane.policy.globs import parse
from controlplane.policy.globs.scope import Scope
from controlplane.policy.model import ErrorType, Reason
from controlplane.shared.errors import NotPermittedError
from intents import registry
from intents.errors import InvalidIntentError, StatusMoveRefusedError
from intents.models import Intent
from intents.selectors import find_intent
from sessions.approvals.decision_input import Decider, DecisionInput, GrantTerms
from sessions.approvals.kinds import plans
from sessions.approvals.kinds.command_kinds import NO_KIND, choose_kinds, make_rules, suggest_approval_kinds
from sessions.approvals.kinds.run_changes import validate_choice
from sessions.core_values import load_policy
from sessions.errors import IntentChangedError, IntentGoneError, InvalidGrantError
from sessions.models import AgentSession, Approval, ApprovalGrant
from traces.ledger.append import NewEntry, append

MAX_MINUTES = 7 * 24 * 60
MAX_PATTERNS, MAX_PATTERN_LENGTH = 50, 512
GRANT_KINDS = ("once", "session", "intent", "workspace", "scope")
SCOPE_REASONS = frozenset({"not_in_scope", "empty_scope", "protected_path"})
UNKNOWN_TARGETS = "Some targets of this call are unknown, so no pattern can cover it."


def validate_grant(approval: Approval, decision: DecisionInput, decider: Decider) -> GrantTerms:
    """Return the terms of the grant.

    Raise InvalidGrantError with the reason when it is impossible, NotPermittedError for a rule by a reviewer.
    """
    if approval.kind == Approval.Kind.COMPLETION:
        return GrantTerms("once")
    if approval.kind != Approval.Kind.RUN:
        _limit_patterns(decision)
    if approval.kind == Approval.Kind.SCOPE:
        return plans.validate_plan_grant(approval, decision)
    if approval.kind == Approval.Kind.RUN:
        return GrantTerms("once", validate_choice(approval, decision.patterns))
    kind = decision.grant
    reason = find_grant_obstacle(approval, kind)
    if reason:
        raise InvalidGrantError(reason)
    if kind == "workspace" and not decider.is_admin:
        raise NotPermittedError("Only an admin can make a rule for the workspace.")
    kinds = choose_kinds(approval, kind, decision)
    if kind in {"once", "workspace"}:
        return GrantTerms(kind, kinds=kinds)
    if decision.minutes and kind != "session":
        raise InvalidGrantError(
            "minutes: only the grant session has an end; a wider scope is permanent until edited."
        )
    patterns = (decision.patterns or ()) if kinds else decision.patterns or list_default_patterns(approval)
    _validate_patterns(approval, patterns, must_cover=not kinds)
    return GrantTerms(kind, patterns, kinds, minutes=decision.minutes)


def find_grant_obstacle(approval: Approval, kind: str) -> str | None:
    """Return why this kind of grant is impossible for the approval; None when it is possible."""
    if kind not in GRANT_KINDS:
        return f"grant must be one of {', '.join(GRANT_KINDS)}."
    if kind in {"intent", "scope"} and not approval.intent_id:
        return "The session has no intent whose scope could be widened."
    if kind == "workspace" and approval.kind == Approval.Kind.CALL and not suggest_approval_kinds(approval):
        return NO_KIND
    return _find_scope_obstacle(approval) if kind == "scope" else None


def _find_scope_obstacle(approval: Approval) -> str | None:
    if approval.call.get("unknown"):
        return UNKNOWN_TARGETS
    if approval.kind == Approval.Kind.CALL and approval.reason not in SCOPE_REASONS:
        return "Only a call outside the scope can widen it."
    return None


def list_default_patterns(approval: Approval) -> tuple[str, ...]:
    """Return the narrowest patterns that cover the call: its very paths, or what the agent requested.

    Empty where targets are unknown: a grant for the session then covers this exact call, any number of times.
    """
    if approval.call.get("unknown"):
        return ()
    if approval.kind == Approval.Kind.SCOPE:
        return tuple(approval.call.get("patterns", ()))
    if approval.reason == Reason.NONE_SELECTED:
        # A missing intent concerns every target: without patterns the next version of a file would ask again.
        targets = [target["path"] for target in approval.call.get("targets", ())]
        return tuple(map(escape_pattern, targets)) if all(targets) else ()
    return tuple(escape_pattern(path) for path in approval.call.get("offending", ()))


def escape_pattern(path: str) -> str:
    """Return a pattern that matches this path and nothing else."""
    escaped = "".join(f"\\{char}" if char in "*?[]{}\\" else char for char in path)
    return f"\\{escaped}" if escaped.startswith("!") else escaped


def apply_grant(approval: Approval, grant: GrantTerms, decider: Decider) -> None:
    """Create the grant or change the intent, inside the transaction of the decision.

    Raise IntentGoneError or IntentChangedError.
    """
    if approval.kind == Approval.Kind.RUN:
        return  # its client asks what may land
    if grant.kind == "workspace":
        make_rules(approval, grant.kinds, decider)
        # The rules say nothing about paths: the very call is let through once, whatever else it does.
        grant = replace(grant, kind="once", kinds=())
    if approval.kind != Approval.Kind.COMPLETION and grant.kind != "scope":
        _create_grant(approval, grant)
        return
    intent = find_intent(approval.workspace_id, approval.intent_id)
    if intent is None:
        raise IntentGoneError(approval.intent_id)
    try:
        _change_intent(intent, approval, grant, decider)
    except (StatusMoveRefusedError, InvalidIntentError) as error:
        raise IntentChangedError(str(error)) from error


def _change_intent(intent: Intent, approval: Approval, grant: GrantTerms, decider: Decider) -> None:
    if approval.kind == Approval.Kind.COMPLETION:
        registry.complete(
            intent,
            actor=decider.actor,
            confirmed_by=decider.name,
            evidence=approval.call.get("acceptance_evidence"),
            reason=approval.call.get("verification_notes", ""),
        )
        return
    reason = f"approval {approval.public_id}"
    registry.widen(intent, grant.patterns, grant.kinds, actor=decider.actor, reason=reason)


def _create_grant(approval: Approval, grant: GrantTerms) -> None:
    expires_at = timezone.now() + timedelta(minutes=grant.minutes) if grant.minutes else None
    ApprovalGrant.objects.give(
        approval,
        kind=grant.kind,
        error_type=approval.error_type or ErrorType.SCOPE_VIOLATION.value,
        digest=approval.digest,
        patterns=list(grant.patterns),
        kinds=list(grant.kinds),
        places=list(grant.places),
        intent_id=approval.intent_id if grant.kind == "intent" else "",
        expires_at=expires_at,
    )


def spend_once_grant(grant: ApprovalGrant, call_id: str) -> bool | None:
    """Use up a `once` grant for a call.

    Return None for a grant that is not used up: of another kind, or spent by this very call before. Return
    False when another call spent it first.
    """
    # A retry of the call that spent the grant is let through again; a call without an id is never a retry.
    if grant.kind != ApprovalGrant.Kind.ONCE or (grant.used_at and grant.used_by == call_id != ""):
        return None
    # Compare-and-set: of two calls at once, the one that updates the row has the grant.
    return ApprovalGrant.objects.spend(grant, call_id)


def end_reported_grant(session: AgentSession, call_id: str) -> None:
    """End the `once` grant that a call spent: its report says that it ran."""
    if call_id:
        with transaction.atomic():
            ApprovalGrant.objects.end_reported(session, call_id)


def revoke(grant: ApprovalGrant, actor: str) -> bool:
    """Revoke a live grant; return False when it was no longer live."""
    with transaction.atomic():
        revoked = ApprovalGrant.objects.revoke(grant)
        if revoked:
            append(
                NewEntry(
                    workspace_id=grant.session.workspace_id,
                    kind="approval",
                    session_id=grant.session.session_id,
                    outcome="REVOKED",
                    actor=actor,
                    body={
                        "event": "grant_revoked",
                        "grant_id": grant.public_id,
                        "approval_id": grant.approval.public_id,
                        "patterns": grant.patterns,
                        "kinds": grant.kinds,
                        "places": grant.places,
                    },
                )
            )
    return revoked


def _limit_patterns(decision: DecisionInput) -> None:
    patterns = decision.patterns or ()
    if len(patterns) > MAX_PATTERNS or any(len(pattern) > MAX_PATTERN_LENGTH for pattern in patterns):
        text = f"patterns: at most {MAX_PATTERNS}, each of at most {MAX_PATTERN_LENGTH} characters."
        raise InvalidGrantError(text)


def _validate_patterns(approval: Approval, patterns: tuple[str, ...], *, must_cover: bool) -> None:
    if patterns and approval.call.get("unknown"):
        raise InvalidGrantError(f"patterns: {UNKNOWN_TARGETS}")
    for pattern in patterns:
        problem = parse.find_problem(pattern)
        if problem is not None:
            raise InvalidGrantError(f"patterns: {problem.message}")
        if pattern.startswith("!"):
            raise InvalidGrantError("patterns: a grant cannot exclude paths. Remove the leading !.")
    ignore_case = load_policy(approval.workspace).case_insensitive_paths
    scope = Scope.from_patterns(patterns, case_insensitive=ignore_case)
    # A grant that misses one of the paths would look given and still leave the agent blocked.
    if not must_cover:
        return
    uncovered = [path for path in approval.call.get("offending", ()) if not scope.matches(path)]
    if approval.kind == Approval.Kind.CALL and uncovered and not approval.call.get("unknown"):
        raise InvalidGrantError(f"patterns: none of them matches {uncovered[0]}, which the call changes.")
