"""The decision: `decide(call, snapshot, now, world)`. Start reading here.

The way of a call: `tools` says which tool it is, `targets` what it names, `placing` which files that
is, `findings` what speaks against it in the order of the contract; here follows what is answered. Refusal
beats asking, asking beats allowing, and whatever goes wrong inside is a refusal.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from controlplane.policy import messages, rejections
from controlplane.policy.call_digest import compute_digest
from controlplane.policy.checks import (
    CONFLICT_ERROR_TYPES,
    Evaluation,
    EvaluationContext,
    Violation,
    evaluate,
)
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
    Verdict,
)
from controlplane.policy.paths.filesystem import Filesystem, UnknownFilesystem
from controlplane.policy.paths.resolve import names_of
from controlplane.policy.rules import path_rules

log = logging.getLogger(__name__)

_NO_WORLD = UnknownFilesystem()

# Within steps 6 to 8 the weightiest problem is the one told.
_WEIGHT: tuple[str, ...] = (
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


def decide(call: ToolCall, snapshot: Snapshot, now: datetime, filesystem: Filesystem = _NO_WORLD) -> Decision:
    """What policy answers to a call. Never raises. A handshake is let through: its own rules judge it."""
    try:
        case = EvaluationContext.create(call, snapshot, now, filesystem)
        return conclude(evaluate(case), case)
    except Exception:  # step 10: any error inside the gate is a denial
        log.exception("the gate failed while it judged a call")
        return _failed()


def enforce(decision: Decision, policy: Policy) -> tuple[Verdict, Verdict | None]:
    """What is answered under the workspace's enforcement, and, where it only monitors, what would have
    been answered instead."""
    if policy.enforcement == "enforce" or decision.verdict is Verdict.ALLOW:
        return decision.verdict, None
    return Verdict.ALLOW, decision.verdict if policy.enforcement == "monitor" else None


def conclude(findings: Evaluation, case: EvaluationContext) -> Decision:
    """Step 9: what follows from the findings, with the live grants."""
    if not findings.violations:
        return _told(findings, case, Verdict.ALLOW)
    digest = compute_digest(case.call, case.snapshot.intent, findings.targets, case.filesystem)
    used: list[Grant] = []
    left: list[Violation] = []
    for problem in findings.violations:
        grant = _covering(problem, findings, case, digest)
        if grant is None:
            left.append(problem)
        else:
            used.append(grant)
    return _refused(left, findings, case, digest) if left else _overridden(used, findings, case, digest)


def is_approvable(problem: Violation, policy: Policy) -> bool:
    """Whether a person may waive a problem: conflicts by their own policy, all else by its type, but never
    what lies outside the workspace, and of the troubles with intents only that none is selected."""
    if problem.reason in CONFLICT_ERROR_TYPES:
        return policy.conflicts == "ask"
    if problem.error_type not in policy.approvable or problem.reason == Reason.OUTSIDE_WORKSPACE:
        return False
    missing = problem.error_type is ErrorType.MISSING_OR_INVALID_INTENT
    return not missing or problem.reason == Reason.NONE_SELECTED


def select_reported(problems: Sequence[Violation], policy: Policy) -> Violation:
    """The problem that is told: of the earliest step; within the checks of the targets (6 to 8) the
    strictest, then the weightiest."""
    return min(problems, key=lambda problem: _rank(problem, policy))


def _rank(problem: Violation, policy: Policy) -> tuple[int, bool, int]:
    early = min(6, problem.step)
    weight = _WEIGHT.index(problem.reason) if problem.reason in _WEIGHT else len(_WEIGHT)
    return early, is_approvable(problem, policy), weight


def _covering(problem: Violation, findings: Evaluation, case: EvaluationContext, digest: str) -> Grant | None:
    """The live grant that waives a problem; one that lasts comes before one that is spent."""
    grants = case.snapshot.grants
    if not grants or not is_approvable(problem, case.policy):
        return None
    live = [grant for grant in grants if grant.expires_at is None or grant.expires_at > case.now]
    paths = _paths_for_patterns(problem, findings)
    ignore_case = case.policy.case_insensitive_paths
    lasting = (
        g
        for g in live
        if g.kind == "session" and _session_grant_covers(g, problem, paths, digest, ignore_case=ignore_case)
    )
    once = (g for g in live if g.kind == "once" and g.digest == digest and _unspent(g, case.call))
    return next(lasting, None) or next(once, None)


def _session_grant_covers(
    grant: Grant, problem: Violation, paths: tuple[str, ...], digest: str, *, ignore_case: bool
) -> bool:
    if grant.error_type is not problem.error_type:
        return False
    if not grant.patterns:
        return grant.digest == digest
    scope = Scope.from_patterns(grant.patterns, case_insensitive=ignore_case)
    # As in a scope, a protected path is opened by its very name only.
    covers = scope.names_exactly if problem.reason == Reason.PROTECTED_PATH else scope.matches
    return bool(paths) and all(covers(path) for path in paths)


def _paths_for_patterns(problem: Violation, findings: Evaluation) -> tuple[str, ...]:
    """The paths that must all match a grant's patterns. A missing intent is about every target, under
    both its names; what cannot be known matches no pattern."""
    if problem.error_type is not ErrorType.MISSING_OR_INVALID_INTENT:
        return problem.offending
    return tuple(name for target in findings.targets for name in names_of(target))


def _unspent(grant: Grant, call: ToolCall) -> bool:
    return not grant.used or (call.call_id is not None and grant.used_by == call.call_id)


def _told(findings: Evaluation, case: EvaluationContext, verdict: Verdict, **more: Any) -> Decision:
    """A decision with what is known of the call."""
    return Decision(
        verdict=verdict,
        tool_class=findings.call_targets.tool_class,
        targets=findings.targets,
        reads=findings.reads,
        unknown=findings.call_targets.unknown,
        conflicts=findings.conflicts,
        intent_id=case.snapshot.selected_intent_id,
        **more,
    )


def _overridden(used: list[Grant], findings: Evaluation, case: EvaluationContext, digest: str) -> Decision:
    """An allow by grants; the one named is the one that is spent by it, if any is."""
    grant = next((g for g in used if g.kind == "once"), used[0])
    told = select_reported(findings.violations, case.policy)
    denial = Denial(told.error_type, told.reason, told.error, told.offending)
    return _told(findings, case, Verdict.ALLOW, grant_id=grant.grant_id, denial=denial, digest=digest)


def _refused(
    problems: list[Violation], findings: Evaluation, case: EvaluationContext, digest: str
) -> Decision:
    told = select_reported(problems, case.policy)
    asks = all(is_approvable(problem, case.policy) for problem in problems)
    paths = [path for problem in problems for path in _paths_for_patterns(problem, findings)]
    words = rejections.find_rejection_message(paths, findings, case) if asks else None
    return _told(
        findings,
        case,
        Verdict.ASK if asks and words is None else Verdict.DENY,
        error_type=told.error_type,
        reason=told.reason,
        error=told.error if words is None else messages.render_rejected_again(told.error, words),
        offending=told.offending,
        nearest_pattern=_nearest(told, case.rules),
        digest=digest,
    )


def _nearest(problem: Violation, book: path_rules.PathRules) -> str | None:
    if problem.reason != Reason.NOT_IN_SCOPE:
        return None
    return path_rules.nearest_pattern(problem.offending[0], book)


def _failed() -> Decision:
    kind, reason = ErrorType.HOOK_BLOCKED, Reason.INTERNAL_ERROR
    return Decision(
        verdict=Verdict.DENY,
        tool_class=ToolClass.DESTRUCTIVE,
        error_type=kind,
        reason=reason,
        error=messages.render((kind, reason)),
    )
