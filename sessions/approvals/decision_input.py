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
    is_admin: bool = False  # may make rules for the workspace


@dataclass(frozen=True, slots=True)
class DecisionInput:
    """A reviewer's choice, as the REST body and the page's form send it.

    `patterns` and `kinds` are None where the choice names none: then the narrowest patterns that cover the
    call, and no kinds.
    """

    action: str  # approve | reject
    grant: str = "once"  # once | session | intent | workspace | scope
    patterns: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None
    minutes: int | None = None
    comment: str = ""
    tool_reads_only: bool = False  # an admin's word about the MCP tool that was called
    lesson: bool = False  # the words of a rejection are kept for later sessions


@dataclass(frozen=True, slots=True)
class GrantTerms:
    """The kind of grant, what it covers and how long it lasts, validated for its approval."""

    kind: str = ""
    patterns: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    minutes: int | None = None
