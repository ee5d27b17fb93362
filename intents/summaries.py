"""Describe intents in one line, for prompts and lists that agents read."""

from __future__ import annotations

from dataclasses import dataclass

MAX_DESCRIPTION_LENGTH = 160


@dataclass(frozen=True, slots=True)
class IntentSummary:
    """An intent that an agent may select. Its texts are one line each.

    `note` says why the handshake refuses it for now, "" where it does not.
    """

    intent_id: str
    name: str
    description: str
    status: str
    note: str = ""


def one_line(text: str, max_length: int = 0) -> str:
    """Join lines and drop control characters; cut after `max_length` characters, 0 for no limit.

    Names are free text: with a line break in it, one could pose as another line of the prompt.
    """
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return f"{line[: max_length - 1].rstrip()}…" if max_length and len(line) > max_length else line
