"""Recorded calls decided again under other rules: which answers would flip.

Both sides are decided anew, under the terms of today and under the proposed ones, so that a flip is
the work of the proposal and of nothing that changed in between. Files have moved on since the call, so
links, folders and content hashes are left out of it on both sides.
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
    Intent,
    IntentStatus,
    Policy,
    Reason,
    Registry,
    SessionState,
    Snapshot,
    ToolCall,
    ToolClass,
    Verdict,
)

FLIPS_SHOWN = 200  # different ones; alike calls count as one

INCOMPLETE = "its input was masked or cut when it was stored"
REDACTED = "its content was taken out of the ledger"
UNKNOWN_INTENT = "its intent is no longer registered"
OTHER_TARGETS = "what it changes reads otherwise than when it was recorded"

# What was so when a call was refused, and is not told by anything but the refusal.
_THEN: Mapping[str, Mapping[str, Any]] = {
    Reason.ENDED: {"state": SessionState.ENDED},
    Reason.FROZEN: {"frozen": True},
    Reason.EMPTY: {"registry": Registry.EMPTY},
    Reason.MISSING: {"registry": Registry.MISSING},
    Reason.CORRUPT: {"registry": Registry.CORRUPT},
    Reason.NOT_FOUND: {"intent": None},
}
_STATUS_THEN: Mapping[str, IntentStatus] = {
    Reason.COMPLETED: IntentStatus.COMPLETED,
    Reason.ABANDONED: IntentStatus.ABANDONED,
    Reason.BLOCKED: IntentStatus.BLOCKED,
}


@dataclass(frozen=True, slots=True)
class RuleSet:
    """What calls are judged by. `intents` holds every registered intent by its id."""

    policy: Policy = field(default_factory=Policy)
    intentignore: str = ""
    intents: Mapping[str, Intent] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call as the ledger kept it. Without a `call` it cannot be decided again, and `lost` says why."""

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
    """Calls whose answer would change in the same way for the same file. `decision_id`, `at` and what
    follows are those of the newest one; `error` is what it would be told, "" for an allow."""

    before: Verdict
    after: Verdict
    path: str  # what the decision hangs on: a path, or the tool where no path is known
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
    """`replayed` + the sum of `not_replayable` is the number of calls that were looked at.

    `counts` holds every flip by (before, after); `flips` at most `FLIPS_SHOWN` of them, newest first.
    """

    replayed: int
    not_replayable: Mapping[str, int]
    counts: Mapping[tuple[Verdict, Verdict], int]
    flips: tuple[Flip, ...]

    @property
    def total(self) -> int:
        return self.replayed + sum(self.not_replayable.values())


def replay(calls: Iterable[RecordedCall], today: RuleSet, proposed: RuleSet, now: datetime) -> Replay:
    """Decide each call twice. Takes memory for the flips only, however many calls there are."""
    lost: Counter[str] = Counter()
    counts: Counter[tuple[Verdict, Verdict]] = Counter()
    flips: dict[tuple[Verdict, Verdict, str], Flip] = {}
    replayed = 0
    for recorded in calls:
        again = _again(recorded, (today, proposed), now)
        if isinstance(again, str):
            lost[again] += 1
            continue
        replayed += 1
        before, after = again
        answers = enforce(before, today.policy)[0], enforce(after, proposed.policy)[0]
        if answers[0] is not answers[1]:
            counts[answers] += 1
            _note(flips, recorded, answers, before, after)
    shown = sorted(flips.values(), key=lambda flip: flip.at, reverse=True)
    return Replay(replayed, dict(lost), dict(counts), tuple(shown))


def _again(
    recorded: RecordedCall, terms: tuple[RuleSet, RuleSet], now: datetime
) -> tuple[Decision, Decision] | str:
    """The decisions under both terms, or why there are none."""
    call, today = recorded.call, terms[0]
    if call is None:
        return recorded.unreplayable_reason
    gone = recorded.intent_id and recorded.intent_id not in today.intents
    if gone and recorded.reason != Reason.NOT_FOUND:
        return UNKNOWN_INTENT
    before, after = (decide(call, _snapshot(recorded, each), now) for each in terms)
    return OTHER_TARGETS if _differs(recorded, before) else (before, after)


def _snapshot(recorded: RecordedCall, terms: RuleSet) -> Snapshot:
    """The situation of the call, as far as its record tells, under these terms."""
    intent = terms.intents.get(recorded.intent_id)
    if intent is not None:
        intent = replace(intent, status=_STATUS_THEN.get(recorded.reason, IntentStatus.IN_PROGRESS))
    situation: dict[str, Any] = {
        "state": SessionState.ACTION if recorded.intent_id else SessionState.REASONING,
        "selected_intent_id": recorded.intent_id or None,
        "intent": intent,
        **_THEN.get(recorded.reason, {}),
    }
    return Snapshot(policy=terms.policy, intentignore=terms.intentignore, **situation)


def _differs(recorded: RecordedCall, again: Decision) -> bool:
    """Whether a decision made anew is about other files than the recorded one."""
    same_class = recorded.tool_class == again.tool_class.value
    paths = tuple(target.path for target in again.targets)
    return same_class and again.tool_class is ToolClass.DESTRUCTIVE and recorded.targets != paths


def _note(
    flips: dict[tuple[Verdict, Verdict, str], Flip],
    recorded: RecordedCall,
    answers: tuple[Verdict, Verdict],
    before: Decision,
    after: Decision,
) -> None:
    targets = tuple(target.path for target in after.targets)
    path = next(iter(after.offending or before.offending or targets), recorded.tool)
    known = flips.get((*answers, path))
    if known is not None:
        newest = max(known, _flip(recorded, answers, path, after), key=lambda flip: flip.at)
        flips[(*answers, path)] = replace(newest, calls=known.calls + 1)
    elif len(flips) < FLIPS_SHOWN:
        flips[(*answers, path)] = _flip(recorded, answers, path, after)


def _flip(recorded: RecordedCall, answers: tuple[Verdict, Verdict], path: str, after: Decision) -> Flip:
    return Flip(
        before=answers[0],
        after=answers[1],
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
