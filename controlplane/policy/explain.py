"""Explain a decision step by step, and list the intents that an agent could select instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Protocol

from controlplane.policy.checks import evaluate
from controlplane.policy.decision import conclude, deny_stopped, is_approvable
from controlplane.policy.evaluation import Evaluation, EvaluationContext
from controlplane.policy.model import Decision, Reason, Snapshot, Step, Target, ToolCall, ToolClass, Verdict
from controlplane.policy.paths.filesystem import Filesystem, UnknownFilesystem

_UNKNOWN_FILESYSTEM = UnknownFilesystem()

LAST_STEP = 10
SESSION_STEP = 2

_UNRESOLVED = frozenset({Reason.OUTSIDE_WORKSPACE, Reason.INVALID_PATH})


class SelectableIntent(Protocol):
    """An intent that could be selected."""

    @property
    def intent_id(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def note(self) -> str: ...


def append_available_intents(text: str, intents: Iterable[SelectableIntent]) -> str:
    """Return a denial with the intents that could be selected instead, or with how to get one."""
    lines = [
        f"- {intent.intent_id}: {intent.name}{f' ({intent.note})' if intent.note else ''}"
        for intent in intents
    ]
    if not lines:
        return f"{text}\nNo intent is available: a person must create or unblock one first."
    return "\n".join((f"{text}\nAvailable intents:", *lines))


def explain(
    call: ToolCall, snapshot: Snapshot, now: datetime, filesystem: Filesystem = _UNKNOWN_FILESYSTEM
) -> tuple[Step, ...]:
    """Return the ten steps of the contract for this call: what each one observed, and its outcome.

    A step that the call never reached is a `skip`.
    """
    try:
        context = EvaluationContext.create(call, snapshot, now, filesystem)
        evaluation = evaluate(context)
        decision = conclude(evaluation, context)
    except Exception as error:  # noqa: BLE001  step 10 is to be shown, not to be raised
        return (Step(LAST_STEP, "Fail safe", repr(error), "deny", "An error inside the gate is a denial."),)
    if snapshot.stopped:
        decision = deny_stopped(decision, snapshot)
    reached = SESSION_STEP if snapshot.stopped else _find_last_step(evaluation)
    steps = [_explain_step(number, evaluation, snapshot, reached) for number in _STEPS]
    return (
        *steps,
        _explain_human(evaluation, decision, snapshot),
        Step(LAST_STEP, "Fail safe", "no error", "pass"),
    )


def _find_last_step(evaluation: Evaluation) -> int:
    """Return the last of steps 1 to 8 that was reached."""
    if evaluation.call_targets.tool_class is ToolClass.HANDSHAKE:
        return 3
    early = [violation.step for violation in evaluation.violations if violation.step < 6]
    if evaluation.call_targets.tool_class is ToolClass.SAFE:
        return min(early, default=4)
    checked_targets = (
        len(evaluation.violations) > len(early) or evaluation.targets or evaluation.call_targets.unknown
    )
    return 8 if checked_targets or not early else min(early)


def _explain_step(number: int, evaluation: Evaluation, snapshot: Snapshot, reached: int) -> Step:
    name, observe = _STEPS[number]
    if number == SESSION_STEP and snapshot.stopped:
        return Step(number, name, observe(evaluation, snapshot), "deny", snapshot.stopped)
    violations = [violation for violation in evaluation.violations if violation.step == number]
    safe = evaluation.call_targets.tool_class is ToolClass.SAFE
    if violations:
        outcome = "deny"
    elif number > reached or (number == 4 and not safe):
        outcome = "skip"
    else:
        outcome = "allow" if number == 4 else "pass"
    text = " ".join(violation.error for violation in violations)
    return Step(number, name, observe(evaluation, snapshot), outcome, text)


def _explain_human(evaluation: Evaluation, decision: Decision, snapshot: Snapshot) -> Step:
    if snapshot.stopped:
        return Step(9, "Human", "nobody may approve while a stop holds", "deny", decision.error or "")
    if not evaluation.violations:
        return Step(9, "Human", "nothing to approve", "skip")
    if decision.verdict is Verdict.ALLOW:
        return Step(9, "Human", f"grant {decision.grant_id}", "allow", "A live grant covers this call.")
    if decision.verdict is Verdict.ASK:
        return Step(9, "Human", "no grant covers it", "ask", "A person may approve this call.")
    was_rejected = all(is_approvable(violation, snapshot.policy) for violation in evaluation.violations)
    observed = "a reviewer has rejected it before" if was_rejected else "policy lets nobody approve it"
    return Step(9, "Human", observed, "deny", decision.error or "")


# --- what each step looks at -------------------------------------------------------------------


def _observe_registry(_: Evaluation, snapshot: Snapshot) -> str:
    return f"registry {snapshot.registry}, when_unavailable {snapshot.policy.when_unavailable}"


def _observe_session(_: Evaluation, snapshot: Snapshot) -> str:
    marks = [word for word, holds in (("frozen", snapshot.frozen), ("stopped", snapshot.stopped)) if holds]
    return ", ".join((f"session {snapshot.state}", *marks))


def _observe_class(evaluation: Evaluation, _: Snapshot) -> str:
    call_targets = evaluation.call_targets
    reasons = "; ".join(f"{part.text}: {part.reason}" for part in call_targets.unknown)
    return f"{call_targets.tool_class}{f' ({reasons})' if reasons else ''}"


def _observe_reads(evaluation: Evaluation, _: Snapshot) -> str:
    return f"reads {_describe_paths(evaluation.reads)}"


def _observe_intent(_: Evaluation, snapshot: Snapshot) -> str:
    if snapshot.selected_intent_id is None:
        return "no intent selected"
    status = snapshot.intent.status if snapshot.intent else "not in the registry"
    return f"{snapshot.selected_intent_id}, {status}"


def _observe_targets(evaluation: Evaluation, snapshot: Snapshot) -> str:
    scope = ", ".join(snapshot.intent.owned_scope) if snapshot.intent else "none"
    paths = dict.fromkeys(
        path
        for violation in evaluation.violations
        if violation.reason in _UNRESOLVED
        for path in violation.offending
    )
    unresolved = f"; not in the workspace: {', '.join(paths)}" if paths else ""
    return f"changes {_describe_paths(evaluation.targets)}{unresolved}; scope {scope or 'empty'}"


def _observe_hashes(evaluation: Evaluation, snapshot: Snapshot) -> str:
    data = evaluation.call_targets.input
    expected = data.get("expected_content_hash") if isinstance(data, dict) else None
    conflicts = [f"{conflict.path} ({conflict.reason}: {conflict.by})" for conflict in evaluation.conflicts]
    return (
        f"expected_content_hash {expected}, require_content_hash {snapshot.policy.require_content_hash},"
        f" conflicts {snapshot.policy.conflicts}: {', '.join(conflicts) or 'none'}"
    )


def _observe_rules(_: Evaluation, snapshot: Snapshot) -> str:
    count = len(snapshot.intent.constraints) if snapshot.intent else 0
    return f"require_mutation_class {snapshot.policy.require_mutation_class}, {count} constraints"


def _describe_paths(targets: Iterable[Target]) -> str:
    paths = [f"{t.path or '.'}{f' -> {t.physical}' if t.physical is not None else ''}" for t in targets]
    return ", ".join(paths) or "nothing"


_STEPS: dict[int, tuple[str, Callable[[Evaluation, Snapshot], str]]] = {
    1: ("Registry", _observe_registry),
    2: ("Session", _observe_session),
    3: ("Class", _observe_class),
    4: ("Safe call", _observe_reads),
    5: ("Intent", _observe_intent),
    6: ("Targets", _observe_targets),
    7: ("Stale", _observe_hashes),
    8: ("Extra rules", _observe_rules),
}
