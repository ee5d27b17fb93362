"""Steps 1 to 8 of the decision, in the contract's order: the rules that a call breaks, and why.

Every function here reports `Violation`s and decides nothing; `decision` concludes from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from controlplane.policy import messages, outside
from controlplane.policy.calls.edit_result import list_file_changes
from controlplane.policy.calls.resolve_tool import resolve_tool
from controlplane.policy.calls.targets import CallTargets, find_targets
from controlplane.policy.calls.toolsets.kinds import ToolKind
from controlplane.policy.effects import Effect, PartEffect, Permission
from controlplane.policy.evaluation import Evaluation, EvaluationContext, Violation
from controlplane.policy.model import (
    Conflict,
    ErrorType,
    IntentStatus,
    Reason,
    Registry,
    SelectedIntent,
    SessionState,
    Snapshot,
    Target,
    ToolClass,
)
from controlplane.policy.paths import content_hashes
from controlplane.policy.paths.canonical import CanonicalPath, canonicalize, to_printable
from controlplane.policy.paths.git_config import find_programs
from controlplane.policy.paths.resolve import ResolvedTarget, UnresolvedPath, resolve_targets
from controlplane.policy.rules import constraints, effect_rules, path_rules, stale_files
from controlplane.policy.rules.path_rules import DenialCode

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


def evaluate(context: EvaluationContext) -> Evaluation:
    """Go through steps 1 to 8. A violation in step 1 or 2, or one in step 5 that nobody may approve, ends
    the walk."""
    hints = context.snapshot.read_only_hints
    call_targets = find_targets(context.call, context.policy, context.filesystem, hints)
    if call_targets.tool_class is ToolClass.HANDSHAKE:
        return Evaluation(call_targets)
    tool_class, snapshot = call_targets.tool_class, context.snapshot
    closed = _check_registry(tool_class, snapshot) or _check_session(tool_class, snapshot)
    if closed:
        return Evaluation(call_targets, (closed,))
    if tool_class is ToolClass.SAFE:
        return _evaluate_safe(call_targets, context)
    # What a person may waive does not stop the walk: one approval is to cover all that is wrong.
    violation = _check_intent(call_targets, context)
    if violation and violation.reason not in {Reason.NONE_SELECTED, Reason.INTENTIGNORE}:
        return Evaluation(call_targets, (violation,))
    return _evaluate_destructive(call_targets, violation, context)


# --- steps 1, 2 and 5 --------------------------------------------------------------------------


def _check_registry(tool_class: ToolClass, snapshot: Snapshot) -> Violation | None:
    reads_go_on = snapshot.policy.when_unavailable == "deny_destructive" and tool_class is ToolClass.SAFE
    if snapshot.registry is Registry.OK or reads_go_on:
        return None
    code = (ErrorType.ORCHESTRATION_UNAVAILABLE, Reason(snapshot.registry.value))
    return _violation(1, code, snapshot)


def _check_session(tool_class: ToolClass, snapshot: Snapshot) -> Violation | None:
    if tool_class is not ToolClass.DESTRUCTIVE:
        return None
    if snapshot.state is SessionState.ENDED:
        return _violation(2, (ErrorType.SESSION_ENDED, Reason.ENDED), snapshot)
    if snapshot.frozen:
        return _violation(2, (ErrorType.SESSION_ENDED, Reason.FROZEN), snapshot)
    if snapshot.wrong_root:
        return _violation(6, (ErrorType.SESSION_ENDED, Reason.WRONG_ROOT), snapshot)
    return None


def _check_intent(call_targets: CallTargets, context: EvaluationContext) -> Violation | None:
    snapshot = context.snapshot
    cited = _get_gate_field("intent_id", call_targets, context)
    reason, detail = _find_intent_error(cited, snapshot)
    if reason is not None:
        return _violation(5, (ErrorType.MISSING_OR_INVALID_INTENT, reason), snapshot, detail=detail)
    if snapshot.intent_held_by_other:
        return _violation(5, (ErrorType.INTENT_CONFLICT, Reason.HELD_BY_OTHER_SESSION), snapshot)
    if snapshot.selected_intent_id in context.rules.ignore.intents:
        return _violation(5, (ErrorType.INTENT_IGNORED, Reason.INTENTIGNORE), snapshot)
    return None


def _get_gate_field(name: str, call_targets: CallTargets, context: EvaluationContext) -> Any:
    """Return a field that a call carries for the gate itself: in the tool's input or, where an MCP wrapper
    carries the call, next to it."""
    inputs = (data for data in (call_targets.input, context.call.input) if isinstance(data, dict))
    return next((data[name] for data in inputs if data.get(name) is not None), None)


def _find_intent_error(cited: Any, snapshot: Snapshot) -> tuple[Reason | None, str]:
    selected, intent = snapshot.selected_intent_id, snapshot.intent
    if selected is None:
        return Reason.NONE_SELECTED, ""
    if cited is not None and cited != selected:
        return Reason.MISMATCH, to_printable(cited if isinstance(cited, str) else repr(cited))
    if intent is None:
        return Reason.NOT_FOUND, ""
    if intent.status is IntentStatus.IN_PROGRESS:
        return None, ""
    return _INACTIVE[intent.status], _describe_block(intent)


def _describe_block(intent: SelectedIntent) -> str:
    if intent.status is IntentStatus.PENDING:
        return " because it has not been started"
    return f" ({intent.blocked_reason})" if intent.blocked_reason else ""


# --- steps 3 and 4 -----------------------------------------------------------------------------


def _evaluate_safe(call_targets: CallTargets, context: EvaluationContext) -> Evaluation:
    if call_targets.input_error:
        return Evaluation(call_targets, (_invalid_input(4, call_targets.input_error, context),))
    reads, unresolved = resolve_targets(call_targets.reads, context.call, context.filesystem)
    # A wildcard is expanded when the tool runs: a name that it may stand for counts, if it is a path at all.
    matched, _ = resolve_targets(call_targets.wildcard_names, context.call, context.filesystem)
    violations = (
        *_check_reads(4, reads + matched, unresolved, context),
        *_check_patterns(4, call_targets, context),
        *_check_directories(4, call_targets, context),
        *_check_effects(4, _list_enforced(call_targets, context), context),
    )
    return Evaluation(call_targets, violations, reads=_to_targets(reads))


def _list_enforced(call_targets: CallTargets, context: EvaluationContext) -> list[PartEffect]:
    """Return the effects of a safe call that policy decides about.

    A web tool of the client asks by itself: here only `deny` refuses it.
    """
    return [
        effect
        for effect in call_targets.effects
        if effect.effect is Effect.FETCHES
        or effect_rules.find_permission(effect, context.snapshot) is Permission.DENY
    ]


def _check_reads(
    step: int,
    reads: Iterable[ResolvedTarget],
    unresolved: Iterable[UnresolvedPath],
    context: EvaluationContext,
) -> Iterator[Violation]:
    permitted = Reason.OUTSIDE_WORKSPACE if context.policy.reads_outside_workspace == "allow" else None
    denied = [
        each
        for each in outside.list_refused(unresolved, context, writing=False)
        if each.error.reason is not permitted
    ]
    yield from _check_unresolved(step, denied, context)
    names = (path_rules.find_ignored_name(each.target, context.rules, context.filesystem) for each in reads)
    ignored = tuple(name for name in names if name is not None)
    if ignored:
        yield _violation(step, path_rules.IGNORED, context.snapshot, offending=ignored)


def _check_directories(
    step: int, call_targets: CallTargets, context: EvaluationContext
) -> Iterator[Violation]:
    for path in outside.list_left_in(call_targets.left_in, context):
        part = PartEffect(f"cd {path}", "", Effect.UNKNOWN, outside.STAYS_OUTSIDE)
        # The shell that stays there is the client's own: no view of the workspace holds it.
        yield from _check_effects(step, (part,), context, may_contain=False)


def _check_patterns(step: int, call_targets: CallTargets, context: EvaluationContext) -> Iterator[Violation]:
    """Yield the patterns that stand for what `.intentignore` keeps from agents."""
    ignored = []
    for each in call_targets.patterns:
        found = canonicalize(each.raw, root=context.call.root, cwd=each.cwd, writing=False)
        # What lies outside, or is no path, is refused by the folder that it starts in.
        if isinstance(found, CanonicalPath) and context.rules.find_ignored_pattern(found.path, each.use):
            ignored.append(found.path or ".")
    if ignored:
        yield _violation(step, path_rules.IGNORED, context.snapshot, offending=tuple(dict.fromkeys(ignored)))


# --- step 6 ------------------------------------------------------------------------------------


def _evaluate_destructive(
    call_targets: CallTargets, intent_violation: Violation | None, context: EvaluationContext
) -> Evaluation:
    violations = [intent_violation] if intent_violation else []
    if call_targets.input_error:
        return Evaluation(call_targets, (*violations, _invalid_input(6, call_targets.input_error, context)))
    writes, unresolved = resolve_targets(call_targets.writes, context.call, context.filesystem)
    reads, unresolved_reads = resolve_targets(call_targets.reads, context.call, context.filesystem)
    matched, _ = resolve_targets(call_targets.wildcard_names, context.call, context.filesystem)
    writes = _with_moved_content(writes, context)
    if unresolved:
        denied = outside.list_refused(unresolved, context, writing=True)
        violations += _check_unresolved(6, denied, context)
    if reads or unresolved_reads:
        violations += _check_reads(6, reads + matched, unresolved_reads, context)
        violations += _check_patterns(6, call_targets, context)
    violations += _check_scope(writes, context)
    expected_hash = _get_gate_field("expected_content_hash", call_targets, context)
    violations += _check_stale(writes, expected_hash, context)
    conflicts = tuple(_find_conflicts(writes, context))
    if context.policy.conflicts != "allow":
        violations += _check_conflicts(conflicts, context)
    violations += _check_workspace_rules(writes, call_targets.input, context)
    violations += _check_effects(6, call_targets.effects, context)
    violations += _check_directories(6, call_targets, context)
    return Evaluation(call_targets, tuple(violations), _to_targets(writes), _to_targets(reads), conflicts)


def _to_targets(resolved: Iterable[ResolvedTarget]) -> tuple[Target, ...]:
    return tuple(each.target for each in resolved)


def _with_moved_content(
    writes: tuple[ResolvedTarget, ...], context: EvaluationContext
) -> tuple[ResolvedTarget, ...]:
    """Where a directory is moved, mark its destination as recursive: all that is in it arrives there."""
    moves = [each.target for each in writes if each.target.op == "move"]
    if not any(context.filesystem.is_dir(target.physical_path) for target in moves):
        return writes
    return tuple(
        replace(each, target=replace(each.target, recursive=True)) if each.is_move_destination else each
        for each in writes
    )


def _check_unresolved(
    step: int, unresolved: Iterable[UnresolvedPath], context: EvaluationContext
) -> Iterator[Violation]:
    by_reason: dict[Reason, list[UnresolvedPath]] = {}
    for each in unresolved:
        by_reason.setdefault(each.error.reason, []).append(each)
    for reason, paths in by_reason.items():
        offending = tuple(each.path for each in paths)
        if reason is Reason.OUTSIDE_WORKSPACE:
            yield _violation(step, path_rules.OUTSIDE, context.snapshot, offending=offending)
        else:
            code, detail = (ErrorType.HOOK_BLOCKED, reason), paths[0].error.message
            yield _violation(step, code, context.snapshot, offending=offending, detail=detail)


def _check_scope(writes: Iterable[ResolvedTarget], context: EvaluationContext) -> Iterator[Violation]:
    by_code: dict[DenialCode, list[str]] = {}
    writes = tuple(writes)
    programs = find_programs(context.filesystem, context.call.root).paths if writes else ()
    for each in writes:
        objection = path_rules.find_write_objection(each.target, context.rules, context.filesystem, programs)
        if objection:
            code, names = objection
            by_code.setdefault(code, []).extend(names)
    for code, paths in by_code.items():
        yield _violation(6, code, context.snapshot, offending=tuple(dict.fromkeys(paths)))


def can_contain(context: EvaluationContext) -> bool:
    """Return whether the call is a shell command that the client can run contained, and policy wants that."""
    if not context.call.can_contain or context.policy.containment == "off":
        return False
    tool = resolve_tool(context.call).tool
    return tool is not None and tool.kind is ToolKind.SHELL


def must_contain(evaluation: Evaluation, context: EvaluationContext) -> bool:
    """Return whether an allowed call may only run contained.

    Not where a person has granted each of its kinds for the session: that is nearer than policy.
    """
    if not can_contain(context) or evaluation.call_targets.tool_class is ToolClass.SAFE:
        return False
    if context.policy.containment == "all" or context.call.prefers_containment:
        return True
    denied = effect_rules.find_refused(evaluation.call_targets.effects, context.snapshot)
    parts = [part for part, word in denied if word is Permission.CONTAIN]
    grants = [grant for grant in context.snapshot.grants if grant.kind != "once"]
    return bool(parts) and not effect_rules.grants_cover(parts, grants)


def _check_effects(
    step: int, effects: Iterable[PartEffect], context: EvaluationContext, *, may_contain: bool = True
) -> Iterator[Violation]:
    """Yield what nobody has permitted: first what nobody may approve, then what a person is asked about."""
    denied = effect_rules.find_refused(effects, context.snapshot)
    if may_contain and can_contain(context):
        # What the client runs over a view of the workspace is judged by what it changed.
        denied = [(part, word) for part, word in denied if word is not Permission.CONTAIN]
    for is_final in (True, False):
        parts = tuple(part for part, word in denied if (word is Permission.DENY) is is_final)
        if parts:
            error = messages.render_effects(parts, is_final=is_final)
            code = (ErrorType.SCOPE_VIOLATION, Reason.UNKNOWN_TARGET)
            yield Violation(step, *code, error, refused=parts, is_final=is_final)


# --- steps 7 and 8 -----------------------------------------------------------------------------


def _check_stale(
    writes: Iterable[ResolvedTarget], expected: Any, context: EvaluationContext
) -> Iterator[Violation]:
    if expected is None and not context.policy.require_content_hash:
        return
    changed = [each.target for each in writes if content_hashes.has_hash(each, context.filesystem)]
    if expected is None:
        found = stale_files.find_files_without_hash(changed, context.call, context.filesystem)
    else:
        found = stale_files.find_stale_files(changed, expected, context.call, context.filesystem)
    if found is None:
        return
    reason, offending = found
    if reason is Reason.INVALID_INPUT:
        yield _invalid_input(7, "expected_content_hash must be `sha256:` and 64 hex digits.", context)
    else:
        yield _violation(7, (ErrorType.STALE_FILE, reason), context.snapshot, offending=offending)


def _find_conflicts(writes: Iterable[ResolvedTarget], context: EvaluationContext) -> Iterator[Conflict]:
    """Yield what another session has changed meanwhile, and what another intent in progress owns too."""
    paths = tuple(dict.fromkeys(each.target.path for each in writes))
    for path, session in context.filesystem.find_changes_by_others(paths).items():
        yield Conflict(path, Reason.CHANGED_BY_OTHER_SESSION, session)
    owners = context.snapshot.owners
    if owners is not None:
        for path in paths:
            for intent in owners.find_owners(path, exclude=context.snapshot.selected_intent_id):
                yield Conflict(path, Reason.OWNED_BY_OTHER_INTENT, intent)


def _check_conflicts(conflicts: tuple[Conflict, ...], context: EvaluationContext) -> Iterator[Violation]:
    for reason, error_type in CONFLICT_ERROR_TYPES.items():
        matching = [conflict for conflict in conflicts if conflict.reason is reason]
        if matching:
            offending = tuple(dict.fromkeys(conflict.path for conflict in matching))
            others = ", ".join(dict.fromkeys(to_printable(conflict.by) for conflict in matching))
            yield _violation(7, (error_type, reason), context.snapshot, offending=offending, detail=others)


def _check_workspace_rules(
    writes: tuple[ResolvedTarget, ...], data: Any, context: EvaluationContext
) -> Iterator[Violation]:
    if context.call.tool == "write_to_file":
        claimed = data.get("mutation_class") if isinstance(data, dict) else None
        yield from _check_mutation_class(claimed, context)
    intent = context.snapshot.intent
    if intent is not None and intent.constraints:
        changes = [change for resolved in writes for change in list_file_changes(resolved)]
        for broken in constraints.find_violations(
            intent.constraints,
            changes,
            context.filesystem,
            ignore_case=context.policy.case_insensitive_paths,
        ):
            yield Violation(8, ErrorType.CONSTRAINT_VIOLATION, broken.kind, broken.text, broken.paths)


def _check_mutation_class(claimed: Any, context: EvaluationContext) -> Iterator[Violation]:
    if claimed is not None and not isinstance(claimed, str):
        yield _invalid_input(8, "mutation_class must be a string.", context)
    elif context.policy.require_mutation_class and (claimed or "").upper() not in MUTATION_CLASSES:
        code = (ErrorType.HOOK_BLOCKED, Reason.MUTATION_CLASS_REQUIRED)
        yield _violation(8, code, context.snapshot)


def _invalid_input(step: int, detail: str, context: EvaluationContext) -> Violation:
    code = (ErrorType.HOOK_BLOCKED, Reason.INVALID_INPUT)
    return _violation(step, code, context.snapshot, detail=detail)


def _violation(
    step: int, code: DenialCode, snapshot: Snapshot, *, offending: tuple[str, ...] = (), detail: str = ""
) -> Violation:
    error = messages.render(code, intent=snapshot.selected_intent_id, paths=offending, detail=detail)
    return Violation(step, *code, error, offending)
