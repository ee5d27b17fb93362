"""A decision told step by step, for people; and the intents that an agent could take instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Protocol

from controlplane.policy.checks import Evaluation, EvaluationContext, evaluate
from controlplane.policy.decision import conclude, is_approvable
from controlplane.policy.model import Decision, Reason, Snapshot, Step, Target, ToolCall, ToolClass, Verdict
from controlplane.policy.paths.filesystem import Filesystem, UnknownFilesystem

_NO_WORLD = UnknownFilesystem()

LAST_OF_ALL = 10


class AvailableIntent(Protocol):
    """An intent that could be selected."""

    @property
    def intent_id(self) -> str: ...

    @property
    def name(self) -> str: ...


def append_available_intents(text: str, intents: Iterable[AvailableIntent]) -> str:
    """A denial with the intents that could be selected instead; or how to get one."""
    lines = [f"- {intent.intent_id}: {intent.name}" for intent in intents]
    if not lines:
        return f"{text}\nNo intent is available: a person must create or unblock one first."
    return "\n".join((f"{text}\nAvailable intents:", *lines))


def explain(
    call: ToolCall, snapshot: Snapshot, now: datetime, filesystem: Filesystem = _NO_WORLD
) -> tuple[Step, ...]:
    """The ten steps of the contract for this call: what each one saw, and what came of it. A step that
    the call never reached is a `skip`."""
    try:
        case = EvaluationContext.create(call, snapshot, now, filesystem)
        findings = evaluate(case)
        decision = conclude(findings, case)
    except Exception as error:  # noqa: BLE001  step 10 is to be told, not to be raised
        return (Step(LAST_OF_ALL, "Fail safe", repr(error), "deny", "An error inside the gate is a denial."),)
    reached = _reached(findings)
    steps = [_step(number, findings, snapshot, reached) for number in _STEPS]
    return (*steps, _human(findings, decision, snapshot), Step(LAST_OF_ALL, "Fail safe", "no error", "pass"))


_NOWHERE = frozenset({Reason.OUTSIDE_WORKSPACE, Reason.INVALID_PATH})


def _reached(findings: Evaluation) -> int:
    """The last of steps 1 to 8 that had a say."""
    if findings.call_targets.tool_class is ToolClass.HANDSHAKE:
        return 3
    early = [problem.step for problem in findings.violations if problem.step < 6]
    if findings.call_targets.tool_class is ToolClass.SAFE:
        return min(early, default=4)
    went_on = len(findings.violations) > len(early) or findings.targets or findings.call_targets.unknown
    return 8 if went_on or not early else min(early)


def _step(number: int, findings: Evaluation, snapshot: Snapshot, reached: int) -> Step:
    name, saw = _STEPS[number]
    problems = [problem for problem in findings.violations if problem.step == number]
    safe = findings.call_targets.tool_class is ToolClass.SAFE
    if problems:
        outcome = "deny"
    elif number > reached or (number == 4 and not safe):
        outcome = "skip"
    else:
        outcome = "allow" if number == 4 else "pass"
    seen = saw(findings, snapshot)
    return Step(number, name, seen, outcome, " ".join(problem.error for problem in problems))


def _human(findings: Evaluation, decision: Decision, snapshot: Snapshot) -> Step:
    if not findings.violations:
        return Step(9, "Human", "nothing to approve", "skip")
    if decision.verdict is Verdict.ALLOW:
        return Step(9, "Human", f"grant {decision.grant_id}", "allow", "A live grant covers this call.")
    if decision.verdict is Verdict.ASK:
        return Step(9, "Human", "no grant covers it", "ask", "A person may approve this call.")
    refused = all(is_approvable(problem, snapshot.policy) for problem in findings.violations)
    saw = "a reviewer has refused it before" if refused else "policy lets nobody approve it"
    return Step(9, "Human", saw, "deny", decision.error or "")


# --- what each step looks at -------------------------------------------------------------------


def _registry(_: Evaluation, snapshot: Snapshot) -> str:
    return f"registry {snapshot.registry}, when_unavailable {snapshot.policy.when_unavailable}"


def _session(_: Evaluation, snapshot: Snapshot) -> str:
    return f"session {snapshot.state}{', frozen' if snapshot.frozen else ''}"


def _class(findings: Evaluation, _: Snapshot) -> str:
    why = "; ".join(f"{part.text}: {part.reason}" for part in findings.call_targets.unknown)
    return f"{findings.call_targets.tool_class}{f' ({why})' if why else ''}"


def _reads(findings: Evaluation, _: Snapshot) -> str:
    return f"reads {_paths(findings.reads)}"


def _intent(_: Evaluation, snapshot: Snapshot) -> str:
    if snapshot.selected_intent_id is None:
        return "no intent selected"
    status = snapshot.intent.status if snapshot.intent else "not in the registry"
    return f"{snapshot.selected_intent_id}, {status}"


def _targets(findings: Evaluation, snapshot: Snapshot) -> str:
    scope = ", ".join(snapshot.intent.owned_scope) if snapshot.intent else "none"
    lost = [path for one in findings.violations if one.reason in _NOWHERE for path in one.offending]
    nowhere = f"; no place in the workspace: {', '.join(dict.fromkeys(lost))}" if lost else ""
    return f"changes {_paths(findings.targets)}{nowhere}; scope {scope or 'empty'}"


def _stale(findings: Evaluation, snapshot: Snapshot) -> str:
    data = findings.call_targets.input
    given = data.get("expected_content_hash") if isinstance(data, dict) else None
    told = [f"{one.path} ({one.reason}: {one.by})" for one in findings.conflicts]
    return (
        f"expected_content_hash {given}, require_content_hash {snapshot.policy.require_content_hash},"
        f" conflicts {snapshot.policy.conflicts}: {', '.join(told) or 'none'}"
    )


def _extra(_: Evaluation, snapshot: Snapshot) -> str:
    count = len(snapshot.intent.constraints) if snapshot.intent else 0
    return f"require_mutation_class {snapshot.policy.require_mutation_class}, {count} constraints"


def _paths(targets: Iterable[Target]) -> str:
    told = [f"{t.path or '.'}{f' -> {t.physical}' if t.physical is not None else ''}" for t in targets]
    return ", ".join(told) or "nothing"


_STEPS: dict[int, tuple[str, Callable[[Evaluation, Snapshot], str]]] = {
    1: ("Registry", _registry),
    2: ("Session", _session),
    3: ("Class", _class),
    4: ("Safe call", _reads),
    5: ("Intent", _intent),
    6: ("Targets", _targets),
    7: ("Stale", _stale),
    8: ("Extra rules", _extra),
}
