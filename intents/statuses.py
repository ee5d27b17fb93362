"""Statuses of intents: allowed moves, and the other words that files use for them."""

from __future__ import annotations

from collections.abc import Mapping

from controlplane.policy.model import IntentStatus

_P, _I, _B, _C, _A = (
    IntentStatus.PENDING,
    IntentStatus.IN_PROGRESS,
    IntentStatus.BLOCKED,
    IntentStatus.COMPLETED,
    IntentStatus.ABANDONED,
)

ALLOWED_MOVES: Mapping[IntentStatus, frozenset[IntentStatus]] = {
    _P: frozenset({_I, _B, _A}),
    _I: frozenset({_C, _B, _A}),
    _B: frozenset({_I, _A}),
    _C: frozenset(),
    _A: frozenset(),
}
"""Contract 1: the moves that bind people and agents. An import may set any status."""

SELECTABLE_STATUSES = frozenset({_P, _I})
"""Statuses in which an agent may take an intent at the handshake."""

FINAL_STATUSES = frozenset({_C, _A})

STATUS_ALIASES: Mapping[str, IntentStatus] = {"DRAFT": _P, "DONE": _C}
"""Words that every import accepts."""

LENIENT_STATUS_ALIASES: Mapping[str, IntentStatus] = {
    **STATUS_ALIASES,
    "ACTIVE": _I,
    "PLANNED": _P,
    "TODO": _P,
    "CREATED": _P,
    "NOT_STARTED": _P,
    "PROPOSED": _P,
}
"""Words that a lenient import accepts, in any letter case."""


def parse_status(word: str, *, lenient: bool) -> IntentStatus | None:
    """Return the status that a document's word stands for, or None."""
    if lenient:
        word = word.strip().upper()
    if word in IntentStatus.__members__:
        return IntentStatus[word]
    return (LENIENT_STATUS_ALIASES if lenient else STATUS_ALIASES).get(word)


def may_move(current: IntentStatus, target: IntentStatus) -> bool:
    return target in ALLOWED_MOVES[current]
