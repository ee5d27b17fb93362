"""What an agent says that it will need: patterns and kinds of commands to work with, or places to read.

A plan is bounded by its intent: approved, it becomes a new revision of the intent, or ends with the session.
A place outside the workspace is no part of an intent's document: it is a grant that ends with the intent.
"""

from __future__ import annotations

from controlplane.policy.globs import parse
from controlplane.policy.rules.places import find_place_problem
from controlplane.shared.errors import InvalidInputError
from sessions.approvals.decision_input import DecisionInput, GrantTerms
from sessions.approvals.kinds.command_kinds import validate_kinds
from sessions.errors import InvalidGrantError
from sessions.models import Approval

READ, WRITE = "read", "write"
BOUNDED = "A plan is bounded by its intent: choose scope, intent or session."


def list_requested(approval: Approval) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the patterns and the kinds that the agent asked for."""
    call = approval.call
    return tuple(call.get("patterns", ())), tuple(call.get("kinds", ()))


def is_for_reading(approval: Approval) -> bool:
    return approval.kind == Approval.Kind.SCOPE and approval.call.get("access") == READ


def is_plan(approval: Approval) -> bool:
    """Return whether more is asked for than a wider scope."""
    return is_for_reading(approval) or bool(approval.call.get("kinds"))


def validate_plan_grant(approval: Approval, decision: DecisionInput) -> GrantTerms:
    """Return what a reviewer gives of a plan, all of it unless they edited it. Raise InvalidGrantError."""
    if decision.grant == "workspace":
        raise InvalidGrantError(BOUNDED)
    requested_patterns, requested_kinds = list_requested(approval)
    # Before plans had kinds, an empty list of patterns stood for all that was asked for.
    names_none = not decision.patterns and (decision.patterns is None or decision.kinds is None)
    patterns = requested_patterns if names_none else decision.patterns or ()
    kinds = requested_kinds if decision.kinds is None else decision.kinds
    if not patterns and not kinds:
        raise InvalidGrantError("Nothing is left of the plan: reject it.")
    validate_kinds(kinds)
    _validate(approval, patterns)
    until_session_ends = decision.grant == "session" or not approval.intent_id
    if decision.minutes and not until_session_ends:
        raise InvalidGrantError(
            "minutes: only the grant session has an end; a wider scope is permanent until edited."
        )
    if is_for_reading(approval):
        kind = "session" if until_session_ends else "intent"
        return GrantTerms(kind, kinds=kinds, places=patterns, minutes=decision.minutes)
    kind = "session" if until_session_ends else "scope"
    return GrantTerms(kind, patterns, kinds, minutes=decision.minutes)


def validate_pattern(pattern: str, access: str) -> None:
    """Raise InvalidInputError for what is no pattern of the workspace, or for reading no place outside it."""
    if access == READ:
        problem = find_place_problem({"pattern": pattern, "access": READ})
        if problem is not None:
            raise InvalidInputError(f"patterns: {problem}", error_type="INVALID_PLACE", pattern=pattern)
        return
    invalid = parse.find_problem(pattern)
    if invalid is not None:
        raise InvalidInputError(f"patterns: {invalid.message}", error_type=invalid.kind, pattern=pattern)


def _validate(approval: Approval, patterns: tuple[str, ...]) -> None:
    for pattern in patterns:
        try:
            validate_pattern(pattern, approval.call.get("access", WRITE))
        except InvalidInputError as error:
            raise InvalidGrantError(error.error) from error
        if pattern.startswith("!"):
            raise InvalidGrantError("patterns: a grant cannot exclude paths. Remove the leading !.")
