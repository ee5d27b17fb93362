"""Who decides on an approval, what they chose, and what that gives."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Decider:
    """Who decides: a signed-in person or a token, with a name that outlives both."""

    name: str
    user_id: int | None = None
    token_id: int | None = None
    actor: str = ""


@dataclass(frozen=True, slots=True)
class DecisionInput:
    """What the decider chose, as the REST call and the page's form send it."""

    action: str  # approve | reject
    grant: str = "once"  # once | session | scope
    patterns: tuple[str, ...] = ()
    minutes: int | None = None
    comment: str = ""
    lesson: bool = False  # the words of a rejection are kept for later sessions


@dataclass(frozen=True, slots=True)
class GrantTerms:
    """A grant that was found possible for its approval."""

    kind: str = ""
    patterns: tuple[str, ...] = ()
    minutes: int | None = None
