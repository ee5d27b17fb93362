"""Find what a scope would own: the editor of an intent and the cards that widen one ask this alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from controlplane.policy.globs.overlaps import find_overlap
from controlplane.policy.globs.scope import Scope
from intents.known_files import KnownFiles
from intents.models import Intent


@dataclass(frozen=True, slots=True)
class ScopeOverlap:
    """Another intent that would own some of the scope as well, and a path that both match."""

    id: str
    name: str
    path: str


@dataclass(frozen=True, slots=True)
class ScopeEffect:
    """The known files that a scope owns, which of them the present one does not, and the new overlaps."""

    matches: tuple[str, ...]
    added: tuple[str, ...]
    overlaps: tuple[ScopeOverlap, ...]


def find_scope_effect(
    patterns: Iterable[str], found: Iterable[str], known: KnownFiles, others: Iterable[Intent]
) -> ScopeEffect:
    """Compare a scope with the present one of its intent. `others` are the other open intents."""
    scope, now = (
        Scope.from_patterns(tuple(each), case_insensitive=known.ignore_case) for each in (patterns, found)
    )
    overlaps = []
    for other in others:
        owned = Scope.from_patterns(tuple(other.owned_scope), case_insensitive=known.ignore_case)
        path = find_overlap(scope, owned)
        if path is not None and find_overlap(now, owned) is None:
            overlaps.append(ScopeOverlap(other.intent_id, other.title, path))
    matches = known.find_matches(scope)
    added = tuple(path for path in matches if not now.matches(path))
    return ScopeEffect(tuple(matches), added, tuple(overlaps))
