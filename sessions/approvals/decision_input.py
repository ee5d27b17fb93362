"""Values of a decision: who decides, what they chose, which grant that allows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Decider:
    """A signed-in person or a token, with a name that outlives both."""

    name: str
    user_id: int | None = None
    token_id: int | None = None
    actor: str = ""


@dataclass(frozen=True, slots=True)
class DecisionInput:
    """A reviewer's choice, as the REST body and the page's form send it."""

    action: str  # approve | reject
    grant: str = "once"  # once | session | scope
    patterns: tuple[str, ...] = ()
    minutes: int | None = None
    comment: str = ""
    lesson: bool = False  # the words of a rejection are kept for later sessions


@dataclass(frozen=True, slots=True)
class GrantTerms:
    """The kind, patterns and duration of a grant, validated for its approval."""

    kind: str = ""
    patterns: tuple[str, ...] = ()
    minutes: int | None = None
