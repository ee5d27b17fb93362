"""Steps 1 to 8 of the decision, in the contract's order: what speaks against a call, and why.

Every function here reports `Problem`s and decides nothing; what follows from them is `decision`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from controlplane.policy import messages
from controlplane.policy.calls.edit_result import list_file_changes
from controlplane.policy.calls.targets import CallTargets, find_targets
from controlplane.policy.model import (
    Conflict,
    ErrorType,
    Intent,
    IntentStatus,
    Policy,
    Reason,
    Registry,
    SessionState,
    Snapshot,
    Target,
    ToolCall,
    ToolClass,
    Unknown,
)
from controlplane.policy.paths import content_hashes
from controlplane.policy.paths.canonical import to_printable
from controlplane.policy.paths.filesystem import Filesystem
from controlplane.policy.paths.resolve import ResolvedTarget, UnresolvedPath, resolve_targets
from controlplane.policy.rules import constraints
from controlplane.policy.rules import path_rules as rules
from controlplane.policy.rules.path_rules import DenialCode, PathRules

MUTATION_CLASSES = ("AST_REFACTOR", "INTENT_EVOLUTION")

CONFLICT_ERROR_TYPES = {
    Reason.CHANGED_BY_OTHER_SESSION: ErrorType.STALE_FILE,
    Reason.OWNED_BY_OTHER_INTENT: ErrorType.INTENT_CONFLICT,
}
_INACTIVE = {
    IntentStatus.COMPLETED: Reason.COMPLETED,
    IntentStatus.ABANDONED: Reason.ABANDONED,
    IntentStatus.BLOCKED: Reason.BLOCKED,
    IntentStatus.PENDING: Reason.BLOCKED,  # put back by an import: it takes no changes until it is started
}


@dataclass(frozen=True, slots=True)
class EvaluationContext:
    """A call and everything that it is judged by."""

    call: ToolCall
    snapshot: Snapshot
    now: datetime
    filesystem: Filesystem
    policy: Policy
    rules: PathRules

    @classmethod
    def create(
        cls, call: ToolCall, snapshot: Snapshot, now: datetime, world: Filesystem
    ) -> EvaluationContext:
        return cls(call, snapshot, now, world, snapshot.policy, rules.compile_rules(snapshot))


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that speaks against a call. `step` is the step of the contract that found it."""

    step: int
    error_type: ErrorType
    reason: str
    error: str
    offending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All that is known of a call when it comes to deciding."""

    call_targets: CallTargets
    violations: tuple[Violation, ...] = ()
    targets: tuple[Target, ...] = ()
    reads: tuple[Target, ...] = ()
    conflicts: tuple[Conflict, ...] = ()


def evaluate(case: EvaluationContext) -> Evaluation:
    """Go through steps 1 to 8. A problem of steps 1, 2 or 5 that nobody may approve ends the way."""
    found = find_targets(case.call, case.policy, case.filesystem)
    if found.tool_class is ToolClass.HANDSHAKE:
        return Evaluation(found)
    closed = _registry(found.tool_class, case.snapshot) or _session(found.tool_class, case.snapshot)
    if closed:
        return Evaluation(found, (closed,))
    if found.tool_class is ToolClass.SAFE:
        return _examine_safe(found, case)
    intent = _intent(found, case)
    if intent and intent.reason not in {Reason.NONE_SELECTED, Reason.INTENTIGNORE}:
        return Evaluation(found, (intent,))
    return _examine_destructive(found, intent, case)


# --- steps 1, 2 and 5 --------------------------------------------------------------------------


def _registry(tool_class: ToolClass, snapshot: Snapshot) -> Violation | None:
    lenient = snapshot.policy.when_unavailable == "deny_destructive" and tool_class is ToolClass.SAFE
    if snapshot.registry is Registry.OK or lenient:
        return None
    ground = (ErrorType.ORCHESTRATION_UNAVAILABLE, Reason(snapshot.registry.value))
    return _problem(1, ground, snapshot)


def _session(tool_class: ToolClass, snapshot: Snapshot) -> Violation | None:
    if tool_class is not ToolClass.DESTRUCTIVE:
        return None
    if snapshot.state is SessionState.ENDED:
        return _problem(2, (ErrorType.SESSION_ENDED, Reason.ENDED), snapshot)
    return _problem(2, (ErrorType.SESSION_ENDED, Reason.FROZEN), snapshot) if snapshot.frozen else None


def _intent(found: CallTargets, case: EvaluationContext) -> Violation | None:
    snapshot = case.snapshot
    reason, detail = _intent_trouble(_own_field("intent_id", found, case), snapshot)
    if reason is not None:
        return _problem(5, (ErrorType.MISSING_OR_INVALID_INTENT, reason), snapshot, detail=detail)
    if snapshot.intent_held_by_other:
        return _problem(5, (ErrorType.INTENT_CONFLICT, Reason.HELD_BY_OTHER_SESSION), snapshot)
    if snapshot.selected_intent_id in case.rules.ignore.intents:
        return _problem(5, (ErrorType.INTENT_IGNORED, Reason.INTENTIGNORE), snapshot)
    return None


def _own_field(name: str, found: CallTargets, case: EvaluationContext) -> Any:
    """What a call says for the gate itself: in the tool's input, or beside it where the call is carried."""
    inputs = (data for data in (found.input, case.call.input) if isinstance(data, dict))
    return next((data[name] for data in inputs if data.get(name) is not None), None)


def _intent_trouble(cited: Any, snapshot: Snapshot) -> tuple[Reason | None, str]:
    selected, intent = snapshot.selected_intent_id, snapshot.intent
    if selected is None:
        return Reason.NONE_SELECTED, ""
    if cited is not None and cited != selected:
        return Reason.MISMATCH, to_printable(cited if isinstance(cited, str) else repr(cited))
    if intent is None:
        return Reason.NOT_FOUND, ""
    if intent.status is IntentStatus.IN_PROGRESS:
        return None, ""
    return _INACTIVE[intent.status], _blocked_detail(intent)


def _blocked_detail(intent: Intent) -> str:
    if intent.status is IntentStatus.PENDING:
        return " because it has not been started"
    return f" ({intent.blocked_reason})" if intent.blocked_reason else ""


# --- steps 3 and 4 -----------------------------------------------------------------------------


def _examine_safe(found: CallTargets, case: EvaluationContext) -> Evaluation:
    if found.input_error:
        return Evaluation(found, (_malformed(4, found.input_error, case),))
    reads, misplaced = resolve_targets(found.reads, case.call, case.filesystem)
    aims, _ = resolve_targets(found.wildcard_names, case.call, case.filesystem)
    return Evaluation(found, tuple(_reading(4, reads + aims, misplaced, case)), reads=_targets(reads))


def _reading(
    step: int, reads: Iterable[ResolvedTarget], misplaced: Iterable[UnresolvedPath], case: EvaluationContext
) -> Iterator[Violation]:
    free = Reason.OUTSIDE_WORKSPACE if case.policy.reads_outside_workspace == "allow" else None
    yield from _misplaced(step, [m for m in misplaced if m.error.reason is not free], case)
    names = (rules.find_ignored_name(placed.target, case.rules, case.filesystem) for placed in reads)
    ignored = tuple(name for name in names if name is not None)
    if ignored:
        yield _problem(step, rules.IGNORED, case.snapshot, offending=ignored)


# --- step 6 ------------------------------------------------------------------------------------


def _examine_destructive(found: CallTargets, intent: Violation | None, case: EvaluationContext) -> Evaluation:
    problems = [intent] if intent else []
    if found.input_error:
        return Evaluation(found, (*problems, _malformed(6, found.input_error, case)))
    writes, lost = resolve_targets(found.writes, case.call, case.filesystem)
    reads, lost_reads = resolve_targets(found.reads, case.call, case.filesystem)
    aims, _ = resolve_targets(found.wildcard_names, case.call, case.filesystem)
    writes = _with_moved_folders(writes, case.filesystem)
    if lost:
        problems += _misplaced(6, lost, case)
    if reads or lost_reads:
        problems += _reading(6, reads + aims, lost_reads, case)
    problems += _scope(writes, case)
    problems += _stale(writes, _own_field("expected_content_hash", found, case), case)
    conflicts = tuple(_conflicts(writes, case))
    if case.policy.conflicts != "allow":
        problems += _contested(conflicts, case)
    problems += _extra(writes, found.input, case)
    problems += _unknown(found.unknown, case)
    return Evaluation(found, tuple(problems), _targets(writes), _targets(reads), conflicts)


def _targets(placed: Iterable[ResolvedTarget]) -> tuple[Target, ...]:
    return tuple(each.target for each in placed)


def _with_moved_folders(writes: tuple[ResolvedTarget, ...], world: Filesystem) -> tuple[ResolvedTarget, ...]:
    """Where a folder is moved to, all that is in it arrives."""
    moves = [each.target for each in writes if each.target.op == "move"]
    if not any(world.is_dir(target.physical or target.path) for target in moves):
        return writes
    return tuple(
        replace(each, target=replace(each.target, recursive=True)) if each.is_move_destination else each
        for each in writes
    )


def _misplaced(step: int, lost: Iterable[UnresolvedPath], case: EvaluationContext) -> Iterator[Violation]:
    by_reason: dict[Reason, list[UnresolvedPath]] = {}
    for each in lost:
        by_reason.setdefault(each.error.reason, []).append(each)
    for reason, several in by_reason.items():
        offending = tuple(each.path for each in several)
        if reason is Reason.OUTSIDE_WORKSPACE:
            yield _problem(step, rules.OUTSIDE, case.snapshot, offending=offending)
        else:
            detail = several[0].error.message
            yield _problem(
                step, (ErrorType.HOOK_BLOCKED, reason), case.snapshot, offending=offending, detail=detail
            )


def _scope(writes: Iterable[ResolvedTarget], case: EvaluationContext) -> Iterator[Violation]:
    by_ground: dict[DenialCode, list[str]] = {}
    for placed in writes:
        objection = rules.find_write_objection(placed.target, case.rules, case.filesystem)
        if objection:
            ground, names = objection
            by_ground.setdefault(ground, []).extend(names)
    for ground, several in by_ground.items():
        yield _problem(6, ground, case.snapshot, offending=tuple(dict.fromkeys(several)))


def _unknown(unknown: tuple[Unknown, ...], case: EvaluationContext) -> Iterator[Violation]:
    if unknown:
        told = "; ".join(f"{part.reason} [{to_printable(part.text)}]" for part in unknown[:5])
        ground = (ErrorType.SCOPE_VIOLATION, Reason.UNKNOWN_TARGET)
        yield _problem(6, ground, case.snapshot, detail=told)


# --- steps 7 and 8 -----------------------------------------------------------------------------


def _stale(writes: Iterable[ResolvedTarget], expected: Any, case: EvaluationContext) -> Iterator[Violation]:
    if expected is None and not case.policy.require_content_hash:
        return
    changed = [each.target for each in writes if content_hashes.has_hash(each, case.filesystem)]
    if expected is None:
        yield from _without_hash(changed, case)
        return
    wanted = content_hashes.normal_hash(expected)
    known = {
        target.path: content_hashes.current_hash(target, case.call, case.filesystem) for target in changed
    }
    stale = tuple(path for path, now in known.items() if now is not None and now != wanted)
    if stale:
        ground = (ErrorType.STALE_FILE, Reason.HASH_MISMATCH)
        yield _problem(7, ground, case.snapshot, offending=stale)
    elif wanted is None:
        yield _malformed(7, "expected_content_hash must be `sha256:` and 64 hex digits.", case)


def _without_hash(changed: Iterable[Target], case: EvaluationContext) -> Iterator[Violation]:
    lacking = tuple(
        target.path for target in changed if content_hashes.exists(target, case.call, case.filesystem)
    )
    if lacking:
        ground = (ErrorType.STALE_FILE, Reason.HASH_REQUIRED)
        yield _problem(7, ground, case.snapshot, offending=lacking)


def _conflicts(writes: Iterable[ResolvedTarget], case: EvaluationContext) -> Iterator[Conflict]:
    """What somebody else has changed meanwhile, and what another intent in progress owns as well."""
    paths = tuple(dict.fromkeys(each.target.path for each in writes))
    for path, session in case.filesystem.find_changes_by_others(paths).items():
        yield Conflict(path, Reason.CHANGED_BY_OTHER_SESSION, session)
    owners = case.snapshot.owners
    if owners is not None:
        for path in paths:
            for intent in owners.find_owners(path, but=case.snapshot.selected_intent_id):
                yield Conflict(path, Reason.OWNED_BY_OTHER_INTENT, intent)


def _contested(conflicts: tuple[Conflict, ...], case: EvaluationContext) -> Iterator[Violation]:
    for reason, error_type in CONFLICT_ERROR_TYPES.items():
        own = [conflict for conflict in conflicts if conflict.reason is reason]
        if own:
            offending = tuple(dict.fromkeys(conflict.path for conflict in own))
            others = ", ".join(dict.fromkeys(to_printable(conflict.by) for conflict in own))
            yield _problem(7, (error_type, reason), case.snapshot, offending=offending, detail=others)


def _extra(writes: tuple[ResolvedTarget, ...], data: Any, case: EvaluationContext) -> Iterator[Violation]:
    if case.call.tool == "write_to_file":
        yield from _mutation_class(data.get("mutation_class") if isinstance(data, dict) else None, case)
    intent = case.snapshot.intent
    if intent is not None and intent.constraints:
        written = [each for placed in writes for each in list_file_changes(placed)]
        ignore_case = case.policy.case_insensitive_paths
        for breach in constraints.find_violations(
            intent.constraints, written, case.filesystem, ignore_case=ignore_case
        ):
            yield Violation(8, ErrorType.CONSTRAINT_VIOLATION, breach.kind, breach.text, breach.paths)


def _mutation_class(given: Any, case: EvaluationContext) -> Iterator[Violation]:
    if given is not None and not isinstance(given, str):
        yield _malformed(8, "mutation_class must be a text.", case)
    elif case.policy.require_mutation_class and (given or "").upper() not in MUTATION_CLASSES:
        yield _problem(8, (ErrorType.HOOK_BLOCKED, Reason.MUTATION_CLASS_REQUIRED), case.snapshot)


def _malformed(step: int, detail: str, case: EvaluationContext) -> Violation:
    ground = (ErrorType.HOOK_BLOCKED, Reason.INVALID_INPUT)
    return _problem(step, ground, case.snapshot, detail=detail)


def _problem(
    step: int, ground: DenialCode, snapshot: Snapshot, *, offending: tuple[str, ...] = (), detail: str = ""
) -> Violation:
    text = messages.render(ground, intent=snapshot.selected_intent_id, paths=offending, detail=detail)
    return Violation(step, *ground, text, offending)
