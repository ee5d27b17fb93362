"""One rule: which words hint at it, its pattern, and which part of a match is the secret."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import re2

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Rule:
    """`hints` are lower-case words of which every match holds one; without any the rule is always tried.

    `find_span` returns the secret's place in the text, None for a match that is no secret after all.
    """

    name: str
    hints: tuple[str, ...]
    pattern: Any
    find_span: Callable[[Any], Span | None]


def compile_pattern(pattern: str) -> Any:
    """Compile a pattern for encoded text: RE2 is linear, and reads bytes as UTF-8."""
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern.encode(), options)
