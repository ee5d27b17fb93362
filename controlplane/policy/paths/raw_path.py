"""A path as an agent spelled it, with what the call does there, before anything is resolved."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class RawPath:
    """A path as the agent spelled it, and what the call does to the file.

    `cwd` is the directory it is relative to, in the form of `ToolCall.cwd`. `before` and `after` are
    the texts taken out and put in, where they are known; `replacements` the single ones, in order.
    """

    raw: Any  # hostile: any JSON value
    cwd: str | None
    op: str = "write"  # as in `Target.op`
    recursive: bool = False
    before: str = ""
    after: str | None = None
    is_full_text: bool = False  # `after` is all that the file will hold
    is_move_destination: bool = False
    replacements: tuple[tuple[str, str], ...] = ()


class PatternUse(StrEnum):
    """What a call does with the files that a pattern stands for."""

    WILDCARD = "wildcard"  # a shell expands it, and nobody knows to what
    FILTER = "filter"  # a search looks into no other file
    CONTENT = "content"  # no pattern: a folder, of which all files are read
    COPY = "copy"  # the same, and what is in it is found under another name afterwards


@dataclass(frozen=True, slots=True)
class RawPattern:
    """Files that a call reads without naming each; matched against `.intentignore` only."""

    raw: str
    cwd: str | None
    use: PatternUse


def strip_trailing_slash(raw: Any) -> Any:
    """Drop the closing slash that a directory may have; the root of the disk stays a path."""
    if not isinstance(raw, str) or not raw.endswith("/"):
        return raw
    return raw.rstrip("/") or "/."
