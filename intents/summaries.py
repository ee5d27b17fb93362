"""Intents in short, for prompts and lists that agents read."""

from __future__ import annotations

from dataclasses import dataclass

MAX_DESCRIPTION_LENGTH = 160
"""Characters of a short description."""


@dataclass(frozen=True, slots=True)
class IntentSummary:
    """An intent that an agent may select. Its texts are one line each."""

    intent_id: str
    name: str
    description: str
    status: str


def one_line(text: str, limit: int = 0) -> str:
    """The text in one line, without control characters; cut after `most` characters where given."""
    line = " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())
    return f"{line[: limit - 1].rstrip()}…" if limit and len(line) > limit else line
