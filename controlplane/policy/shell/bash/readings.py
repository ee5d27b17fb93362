"""Judge a command as each of its shells reads it: braces and `$'…'` are plain text for dash.

What a command may do is what it does in any of the readings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeVar

from controlplane.policy.effects import PartEffect
from controlplane.policy.shell.bash.syntax_tree import SyntaxTree
from controlplane.policy.shell.result import CommandPart, ShellAnalysis
from controlplane.policy.shell.shells import AS_BASH, DASH, Reading, Shells
from controlplane.policy.shell.state import merge_directories

BRACES = re.compile(rb"\{.*(?:,|\.\.)", re.DOTALL)
ESCAPES = b"$'"
Item = TypeVar("Item")
# The strongest first: of a part that two shells read otherwise, the page shows this one.
VERDICTS = ("runs", "unknown", "deletes", "moves", "writes", "reads")


def list_readings(tree: SyntaxTree, shells: Shells) -> Iterator[Reading]:
    """Yield each way to read the command that makes a difference. A dash of today may know `$'…'`."""
    yield AS_BASH
    if DASH in shells:
        has_braces, has_escapes = BRACES.search(tree.data) is not None, ESCAPES in tree.data
        if has_braces or has_escapes:
            yield Reading(braces=False, escapes=False)
        if has_braces and has_escapes:
            yield Reading(braces=False)


def merge_analyses(analyses: Sequence[ShellAnalysis]) -> ShellAnalysis:
    """Return what the command does in any of the readings."""
    first, *others = analyses
    if not others:
        return first
    directories = first.directories
    for other in others:
        directories = merge_directories(directories, other.directories)
    return ShellAnalysis(
        safe=all(each.safe for each in analyses),
        writes=_unite(each.writes for each in analyses),
        reads=_unite(each.reads for each in analyses),
        unknown=_unite(each.unknown for each in analyses),
        parts=tuple(_merge_parts(chain.from_iterable(each.parts for each in analyses))),
        effects=tuple(sorted(_unite(each.effects for each in analyses), key=_find_place)),
        patterns=_unite(each.patterns for each in analyses),
        directories=directories,
        links=frozenset().union(*(each.links for each in analyses)),
    )


def _unite(found: Iterable[Iterable[Item]]) -> tuple[Item, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(found)))


def _find_place(effect: PartEffect) -> tuple[int, int]:
    return effect.start or 0, -(effect.end or 0)


def _merge_parts(parts: Iterable[CommandPart]) -> list[CommandPart]:
    """Return each part once, with the strongest verdict on it, in the order of the text."""
    strongest: dict[tuple[int, int], CommandPart] = {}
    for part in sorted(parts, key=lambda part: VERDICTS.index(part.verdict)):
        strongest.setdefault((part.start, part.end), part)
    return sorted(strongest.values(), key=lambda part: (part.start, -part.end))
