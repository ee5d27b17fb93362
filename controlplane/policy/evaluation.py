"""The values that one evaluation of a call takes and collects."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from controlplane.policy.calls.targets import CallTargets
from controlplane.policy.effects import PartEffect
from controlplane.policy.model import Conflict, ErrorType, Policy, Snapshot, Target, ToolCall
from controlplane.policy.paths.canonical import is_windows
from controlplane.policy.paths.filesystem import Filesystem
from controlplane.policy.rules.path_rules import PathRules, compile_rules


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
        cls, call: ToolCall, snapshot: Snapshot, now: datetime, filesystem: Filesystem
    ) -> EvaluationContext:
        rules = compile_rules(snapshot, on_windows=is_windows(call.root))
        return cls(call, snapshot, now, filesystem, snapshot.policy, rules)


@dataclass(frozen=True, slots=True)
class Violation:
    """One rule that a call breaks. `step` is the step of the contract that found it.

    `refused`: the parts whose effects nobody has permitted. `is_final`: policy lets nobody approve it.
    """

    step: int
    error_type: ErrorType
    reason: str
    error: str
    offending: tuple[str, ...] = ()
    refused: tuple[PartEffect, ...] = ()
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What steps 1 to 8 found out about a call."""

    call_targets: CallTargets
    violations: tuple[Violation, ...] = ()
    targets: tuple[Target, ...] = ()
    reads: tuple[Target, ...] = ()
    conflicts: tuple[Conflict, ...] = ()

    @property
    def refused(self) -> tuple[PartEffect, ...]:
        return tuple(effect for violation in self.violations for effect in violation.refused)
