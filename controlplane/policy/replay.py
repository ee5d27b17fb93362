"""Decide recorded calls again under other rules, and report which answers would flip.

Each call is decided twice, under the current rules and under the proposed ones, so that a flip comes
from the proposal alone and from nothing that changed since the call. Files have changed since, so links,
directories and content hashes are left out on both sides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from controlplane.policy.decision import decide, enforce
from controlplane.policy.model import (
    Decision,
    IntentStatus,
    Policy,
    Reason,
    Registry,
    SelectedIntent,
    SessionState,
    Snapshot,
    ToolCall,
    ToolClass,
    Verdict,
)

MAX_FLIPS = 200  # different ones; like calls count as one

INCOMPLETE = "its input was masked or cut when it was stored"
REDACTED = "its content was redacted from the ledger"
UNKNOWN_INTENT = "its intent is no longer registered"
OTHER_TARGETS = "its targets resolve differently than when it was recorded"

# What a recorded denial says about the snapshot of its time; nothing else was recorded of it.
_SNAPSHOT_FIELDS: Mapping[str, Mapping[str, Any]] = {
    Reason.ENDED: {"state": SessionState.ENDED},
    Reason.FROZEN: {"frozen": True},
    Reason.WRONG_ROOT: {"wrong_root": True},
    Reason.STOPPED: {"stopped": "It was stopped."},
    Reason.EMPTY: {"registry": Registry.EMPTY},
    Reason.MISSING: {"registry": Registry.MISSING},
    Reason.CORRUPT: {"registry": Registry.CORRUPT},
    Reason.NOT_FOUND: {"intent": None},
}
_INTENT_STATUSES: Mapping[str, IntentStatus] = {
    Reason.COMPLETED: IntentStatus.COMPLETED,
    Reason.ABANDONED: IntentStatus.ABANDONED,
    Reason.BLOCKED: IntentStatus.BLOCKED,
}


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules that calls are decided under. `intents` holds every registered intent by its id."""

    policy: Policy = field(default_factory=Policy)
    intentignore: str = ""
    ignore_files: tuple[str, ...] = ()
    intents: Mapping[str, SelectedIntent] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call as the ledger holds it. Without a `call` it cannot be decided again, and
    `unreplayable_reason` says why."""

    decision_id: str
    at: datetime
    session_id: str
    intent_id: str
    tool: str
    verdict: str
    reason: str = ""
    tool_class: str = ""
    targets: tuple[str, ...] = ()
    call: ToolCall | None = None
    unreplayable_reason: str = ""


@dataclass(frozen=True, slots=True)
class Flip:
    """Calls whose answer would change in the same way for the same file.

    `decision_id`, `at` and the fields after them are those of the newest call; `error` is the text that
    it would get, "" for an allow.
    """

    before: Verdict
    after: Verdict
    path: str  # that the decision is about, or the tool where no path is known
    calls: int
    decision_id: str
    at: datetime
    session_id: str
    intent_id: str
    tool: str
    recorded: str
    error: str


@dataclass(frozen=True, slots=True)
class Replay:
    """The result for all calls. `not_replayable` counts by reason those that were not decided.

    `counts` holds every flip by (before, after); `flips` at most `MAX_FLIPS` of them, newest first.
    """

    replayed: int
    not_replayable: Mapping[str, int]
    counts: Mapping[tuple[Verdict, Verdict], int]
    flips: tuple[Flip, ...]

    @property
    def total(self) -> int:
        return self.replayed + sum(self.not_replayable.values())


def replay(calls: Iterable[RecordedCall], current: RuleSet, proposed: RuleSet, now: datetime) -> Replay:
    """Decide each call twice. Memory grows with the flips only, however many calls there are."""
    not_replayable: Counter[str] = Counter()
    counts: Counter[tuple[Verdict, Verdict]] = Counter()
    flips: dict[tuple[Verdict, Verdict, str], Flip] = {}
    replayed = 0
    for recorded in calls:
        decisions = _decide_twice(recorded, (current, proposed), now)
        if isinstance(decisions, str):
            not_replayable[decisions] += 1
            continue
        replayed += 1
        before, after = decisions
        verdicts = enforce(before, current.policy)[0], enforce(after, proposed.policy)[0]
        if verdicts[0] is not verdicts[1]:
            counts[verdicts] += 1
            _add_flip(flips, recorded, verdicts, before, after)
    newest_first = sorted(flips.values(), key=lambda flip: flip.at, reverse=True)
    return Replay(replayed, dict(not_replayable), dict(counts), tuple(newest_first))


def _decide_twice(
    recorded: RecordedCall, rule_sets: tuple[RuleSet, RuleSet], now: datetime
) -> tuple[Decision, Decision] | str:
    """Return the decisions under both rule sets, or why there are none."""
    call, current = recorded.call, rule_sets[0]
    if call is None:
        return recorded.unreplayable_reason
    is_gone = recorded.intent_id and recorded.intent_id not in current.intents
    if is_gone and recorded.reason != Reason.NOT_FOUND:
        return UNKNOWN_INTENT
    before, after = (decide(call, _build_snapshot(recorded, rules), now) for rules in rule_sets)
    return OTHER_TARGETS if _has_other_targets(recorded, before) else (before, after)


def _build_snapshot(recorded: RecordedCall, rules: RuleSet) -> Snapshot:
    """Return the snapshot of the call's time, as far as its record tells, with these rules."""
    intent = rules.intents.get(recorded.intent_id)
    if intent is not None:
        status = _INTENT_STATUSES.get(recorded.reason, IntentStatus.IN_PROGRESS)
        intent = replace(intent, status=status)
    fields: dict[str, Any] = {
        "state": SessionState.ACTION if recorded.intent_id else SessionState.REASONING,
        "selected_intent_id": recorded.intent_id or None,
        "intent": intent,
        **_SNAPSHOT_FIELDS.get(recorded.reason, {}),
    }
    return Snapshot(
        policy=rules.policy, intentignore=rules.intentignore, ignore_files=rules.ignore_files, **fields
    )


def _has_other_targets(recorded: RecordedCall, decision: Decision) -> bool:
    """Return whether a decision is about other files than the recorded one: the product reads the call
    differently today, so no rule would be the cause of a flip."""
    same_class = recorded.tool_class == decision.tool_class.value
    paths = tuple(target.path for target in decision.targets)
    return same_class and decision.tool_class is ToolClass.DESTRUCTIVE and recorded.targets != paths


def _add_flip(
    flips: dict[tuple[Verdict, Verdict, str], Flip],
    recorded: RecordedCall,
    verdicts: tuple[Verdict, Verdict],
    before: Decision,
    after: Decision,
) -> None:
    targets = tuple(target.path for target in after.targets)
    path = next(iter(after.offending or before.offending or targets), recorded.tool)
    previous = flips.get((*verdicts, path))
    if previous is not None:
        newest = max(previous, _build_flip(recorded, verdicts, path, after), key=lambda flip: flip.at)
        flips[(*verdicts, path)] = replace(newest, calls=previous.calls + 1)
    elif len(flips) < MAX_FLIPS:
        flips[(*verdicts, path)] = _build_flip(recorded, verdicts, path, after)


def _build_flip(
    recorded: RecordedCall, verdicts: tuple[Verdict, Verdict], path: str, after: Decision
) -> Flip:
    return Flip(
        before=verdicts[0],
        after=verdicts[1],
        path=path,
        calls=1,
        decision_id=recorded.decision_id,
        at=recorded.at,
        session_id=recorded.session_id,
        intent_id=recorded.intent_id,
        tool=recorded.tool,
        recorded=recorded.verdict,
        error=after.error or "",
    )
