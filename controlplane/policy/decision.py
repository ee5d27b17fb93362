"""The decision: `decide(call, snapshot, now, filesystem)`. Start reading here.

A call walks down: `calls` finds its tool and the paths that it names, `paths` resolves them to files,
`checks` lists the rules that it breaks, in the order of the contract; this module concludes from them.
Deny beats ask, ask beats allow, and any error inside is a denial.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from controlplane.policy import messages, rejections
from controlplane.policy.call_digest import compute_digest
from controlplane.policy.checks import CONFLICT_ERROR_TYPES, evaluate, must_contain
from controlplane.policy.evaluation import Evaluation, EvaluationContext, Violation
from controlplane.policy.globs.scope import Scope
from controlplane.policy.model import (
    Decision,
    Denial,
    ErrorType,
    Grant,
    Policy,
    Reason,
    Snapshot,
    ToolCall,
    ToolClass,
    Unknown,
    Verdict,
)
from controlplane.policy.paths.filesystem import Filesystem, UnknownFilesystem
from controlplane.policy.rules import effect_rules, path_rules

log = logging.getLogger(__name__)

_UNKNOWN_FILESYSTEM = UnknownFilesystem()

# Which of several violations in steps 6 to 8 is reported: the one that stands first here.
_SEVERITY: tuple[str, ...] = (
    Reason.INVALID_INPUT,
    Reason.INVALID_PATH,
    Reason.OUTSIDE_WORKSPACE,
    Reason.PROTECTED_PATH,
    Reason.INTENTIGNORE,
    Reason.EMPTY_SCOPE,
    Reason.NOT_IN_SCOPE,
    Reason.HASH_MISMATCH,
    Reason.HASH_REQUIRED,
    Reason.CHANGED_BY_OTHER_SESSION,
    Reason.OWNED_BY_OTHER_INTENT,
    Reason.MUTATION_CLASS_REQUIRED,
)


def decide(
    call: ToolCall, snapshot: Snapshot, now: datetime, filesystem: Filesystem = _UNKNOWN_FILESYSTEM
) -> Decision:
    """Decide about a call. Never raises.

    A handshake is let through: `sessions.lifecycle.handshake` has the rules for it.
    """
    try:
        context = EvaluationContext.create(call, snapshot, now, filesystem)
        decision = conclude(evaluate(context), context)
    except Exception:  # step 10: any error inside the gate is a denial
        log.exception("the gate failed while it judged a call")
        decision = _deny_after_error()
    is_stopped = isinstance(snapshot, Snapshot) and snapshot.stopped
    return deny_stopped(decision, snapshot) if is_stopped else decision


def deny_stopped(decision: Decision, snapshot: Snapshot) -> Decision:
    """Turn any decision into the denial of a stop; its targets stay, so that the record names them."""
    error_type, reason = ErrorType.SESSION_ENDED, Reason.STOPPED
    return replace(
        decision,
        verdict=Verdict.DENY,
        error_type=error_type,
        reason=reason,
        error=messages.render((error_type, reason), detail=snapshot.stopped),
        offending=(),
        refused=(),
        nearest_pattern=None,
        grant_id=None,
        denial=None,
        contained=False,
    )


def enforce(decision: Decision, policy: Policy) -> tuple[Verdict, Verdict | None]:
    """Return the verdict under the workspace's enforcement and, where it only monitors, the verdict that
    `enforce` would have given instead. A stop holds whatever policy enforces."""
    if decision.reason == Reason.STOPPED:
        return Verdict.DENY, None
    if policy.enforcement == "enforce" or decision.verdict is Verdict.ALLOW:
        return decision.verdict, None
    return Verdict.ALLOW, decision.verdict if policy.enforcement == "monitor" else None


def conclude(evaluation: Evaluation, context: EvaluationContext) -> Decision:
    """Step 9: weigh the violations against the live grants."""
    if not evaluation.violations:
        contained = must_contain(evaluation, context)
        return _decision(evaluation, context, Verdict.ALLOW, contained=contained)
    digest = compute_digest(context.call, context.snapshot.intent, evaluation.targets, context.filesystem)
    grants: list[Grant] = []
    remaining: list[Violation] = []
    for violation in evaluation.violations:
        grant = _find_grant(violation, evaluation, context, digest)
        if grant is None:
            remaining.append(violation)
        else:
            grants.append(grant)
    if remaining:
        return _deny_or_ask(remaining, evaluation, context, digest)
    return _override(grants, evaluation, context, digest)


def is_approvable(violation: Violation, policy: Policy) -> bool:
    """Return whether a person may waive a violation.

    Conflicts have a policy of their own, all else goes by error type. Never waived: a path outside the
    workspace and, of the errors about intents, all but `none_selected`.
    """
    if violation.is_final:
        return False
    if violation.reason in CONFLICT_ERROR_TYPES:
        return policy.conflicts == "ask"
    if violation.error_type not in policy.approvable or violation.reason == Reason.OUTSIDE_WORKSPACE:
        return False
    about_intent = violation.error_type is ErrorType.MISSING_OR_INVALID_INTENT
    return not about_intent or violation.reason == Reason.NONE_SELECTED


def select_reported(violations: Sequence[Violation], policy: Policy) -> Violation:
    """Return the violation that the answer names.

    It is one of the earliest step; within the checks of targets (6 to 8, which run together) one that
    nobody may approve, then the most severe.
    """
    return min(violations, key=lambda violation: _rank(violation, policy))


def _rank(violation: Violation, policy: Policy) -> tuple[int, bool, int]:
    step = min(6, violation.step)
    severity = _SEVERITY.index(violation.reason) if violation.reason in _SEVERITY else len(_SEVERITY)
    return step, is_approvable(violation, policy), severity


def _find_grant(
    violation: Violation, evaluation: Evaluation, context: EvaluationContext, digest: str
) -> Grant | None:
    """Return the live grant that waives a violation.

    A session's grant comes first: a `once` grant would be spent although nothing needs it.
    """
    grants = context.snapshot.grants
    if not grants or not is_approvable(violation, context.policy):
        return None
    live = [grant for grant in grants if grant.expires_at is None or grant.expires_at > context.now]
    paths = _list_paths(violation, evaluation)
    ignore_case = context.policy.case_insensitive_paths
    for grant in live:
        if grant.kind == "session" and _session_grant_covers(
            grant, violation, paths, digest, ignore_case=ignore_case
        ):
            return grant
    if violation.refused:
        sessions = [grant for grant in live if grant.kind != "once" and grant.kinds]
        if effect_rules.grants_cover(violation.refused, sessions):
            kinds = {effect.kind for effect in violation.refused}
            return next(grant for grant in sessions if not kinds.isdisjoint(grant.kinds))
    once = (g for g in live if g.kind == "once" and g.digest == digest and _is_unspent(g, context.call))
    return next(once, None)


def _session_grant_covers(
    grant: Grant, violation: Violation, paths: tuple[str, ...], digest: str, *, ignore_case: bool
) -> bool:
    # The very call that it was given for, whatever else is wrong with it: as a `once` grant does.
    if grant.digest == digest:
        return True
    if grant.error_type is not violation.error_type or not grant.patterns:
        return False
    scope = Scope.from_patterns(grant.patterns, case_insensitive=ignore_case)
    # As in a scope, only its exact name opens a protected path: `**` was not meant to give away .git.
    covers = scope.names_exactly if violation.reason == Reason.PROTECTED_PATH else scope.matches
    return bool(paths) and all(covers(path) for path in paths)


def _list_paths(violation: Violation, evaluation: Evaluation) -> tuple[str, ...]:
    """Return the paths that must all match a grant's patterns.

    A missing intent concerns every target, under both its names. An unknown target has no path, so no
    pattern covers it.
    """
    if violation.error_type is not ErrorType.MISSING_OR_INVALID_INTENT:
        return violation.offending
    return tuple(name for target in evaluation.targets for name in target.names)


def _is_unspent(grant: Grant, call: ToolCall) -> bool:
    # The same call id again is a retry of the call that spent the grant, not another call.
    return not grant.used or (call.call_id is not None and grant.used_by == call.call_id)


def _decision(
    evaluation: Evaluation, context: EvaluationContext, verdict: Verdict, **fields: Any
) -> Decision:
    return Decision(
        verdict=verdict,
        tool_class=evaluation.call_targets.tool_class,
        targets=evaluation.targets,
        reads=evaluation.reads,
        unknown=_list_unknown(evaluation),
        effects=evaluation.call_targets.effects,
        refused=evaluation.refused,
        conflicts=evaluation.conflicts,
        intent_id=context.snapshot.selected_intent_id,
        **fields,
    )


def _list_unknown(evaluation: Evaluation) -> tuple[Unknown, ...]:
    """Return the parts that a person is shown: what is unknown, and what nobody has permitted."""
    unknown = evaluation.call_targets.unknown
    named = {(part.text, part.start) for part in unknown}
    denied = (
        Unknown(effect.part, effect.why, effect.start, effect.end)
        for effect in evaluation.refused
        if (effect.part, effect.start) not in named
    )
    return (*unknown, *denied)


def _override(
    grants: list[Grant], evaluation: Evaluation, context: EvaluationContext, digest: str
) -> Decision:
    """Allow by grants. The decision names the `once` grant, if there is one: its report spends it."""
    grant = next((grant for grant in grants if grant.kind == "once"), grants[0])
    reported = select_reported(evaluation.violations, context.policy)
    denial = Denial(reported.error_type, reported.reason, reported.error, reported.offending)
    return _decision(
        evaluation, context, Verdict.ALLOW, grant_id=grant.grant_id, denial=denial, digest=digest
    )


def _deny_or_ask(
    violations: list[Violation], evaluation: Evaluation, context: EvaluationContext, digest: str
) -> Decision:
    reported = select_reported(violations, context.policy)
    may_ask = all(is_approvable(violation, context.policy) for violation in violations)
    paths = [path for violation in violations for path in _list_paths(violation, evaluation)]
    # Asking again what a reviewer rejected would wear the reviewer down until it is approved.
    rejection = rejections.find_rejection_message(paths, evaluation, context) if may_ask else None
    error = reported.error
    if rejection is not None:
        error = messages.render_rejected_again(reported.error, rejection)
    return _decision(
        evaluation,
        context,
        Verdict.ASK if may_ask and rejection is None else Verdict.DENY,
        error_type=reported.error_type,
        reason=reported.reason,
        error=error,
        offending=reported.offending,
        nearest_pattern=_find_nearest_pattern(reported, context.rules),
        digest=digest,
    )


def _find_nearest_pattern(violation: Violation, rules: path_rules.PathRules) -> str | None:
    if violation.reason != Reason.NOT_IN_SCOPE:
        return None
    return rules.find_nearest_pattern(violation.offending[0])


def _deny_after_error() -> Decision:
    error_type, reason = ErrorType.HOOK_BLOCKED, Reason.INTERNAL_ERROR
    return Decision(
        verdict=Verdict.DENY,
        tool_class=ToolClass.DESTRUCTIVE,
        error_type=error_type,
        reason=reason,
        error=messages.render((error_type, reason)),
    )
