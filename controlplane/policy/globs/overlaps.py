"""Find scopes that share a path: of two of them, or of all pairs of a thousand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from controlplane.policy.globs.automaton import Automaton, TooComplexError, build_automaton, find_path
from controlplane.policy.globs.intersection import PatternTree, find_common_path
from controlplane.policy.globs.scope import Scope
from controlplane.policy.globs.syntax import Alternative

Pair = tuple[int, int]


def find_overlap(a: Scope, b: Scope) -> str | None:
    """Return a path that both scopes match, or None."""
    return next((path for _, _, path in find_overlaps((a, b))), None)


def find_overlaps(scopes: Sequence[Scope]) -> Iterator[tuple[int, int, str]]:
    """Yield all pairs of scopes (by index, lower first) that share a path, each with such a path.

    Exact, exclusions included. Only where a pair needs more than `MAX_STEPS` the answer errs towards an
    overlap, with a path that the inclusions share or, where that is the hard part, that one of them has.
    """
    owners: dict[Alternative, list[int]] = {}
    for owner, scope in enumerate(scopes):
        for alternative in scope.inclusions:
            owners.setdefault(alternative, []).append(owner)
    alternatives = list(owners)
    index = PatternTree(alternatives)
    pairs = _Pairs(scopes)
    for number, first in enumerate(alternatives):
        for partner in index.list_partners(number):
            if pairs.are_complete(owners[first]):
                break
            second = alternatives[partner]
            missing = pairs.list_missing(owners[first], owners[second])
            yield from pairs.compare(first, second, missing) if missing else ()
    yield from pairs.compare_around_exclusions()


class _Pairs:
    """The pairs of scopes that are known to overlap, and those that may do so around their exclusions."""

    def __init__(self, scopes: Sequence[Scope]) -> None:
        self._scopes = scopes
        self._overlapping: set[Pair] = set()
        self._partner_counts = [1] * len(scopes)  # each overlaps itself
        self._excluded: dict[Pair, list[tuple[Alternative, Alternative]]] = {}

    def are_complete(self, owners: list[int]) -> bool:
        return all(self._partner_counts[owner] == len(self._scopes) for owner in owners)

    def list_missing(self, owners: list[int], other_owners: list[int]) -> list[Pair]:
        pairs = {(a, b) if a < b else (b, a) for a in owners for b in other_owners if a != b}
        return sorted(pairs - self._overlapping)

    def compare(
        self, first: Alternative, second: Alternative, missing: list[Pair]
    ) -> Iterator[tuple[int, int, str]]:
        """Yield the pairs that overlap because these two inclusions share a path."""
        path = find_common_path(first, second)
        if path is None:
            return
        for pair in missing:
            a, b = pair
            if self._scopes[a].excludes(path) or self._scopes[b].excludes(path):
                self._excluded.setdefault(pair, []).append((first, second))
                continue
            self._overlapping.add(pair)
            self._partner_counts[a] += 1
            self._partner_counts[b] += 1
            yield a, b, path

    def compare_around_exclusions(self) -> Iterator[tuple[int, int, str]]:
        """Yield the pairs whose first common path is excluded, but not every common path."""
        for pair in sorted(self._excluded.keys() - self._overlapping):
            a, b = (self._scopes[owner] for owner in pair)
            exclusions = build_automaton(a.exclusions + b.exclusions)
            paths = (_find_path_outside(one, other, exclusions) for one, other in self._excluded[pair])
            path = next((path for path in paths if path is not None), None)
            if path is not None:
                yield (*pair, path)


def _find_path_outside(first: Alternative, second: Alternative, exclusions: Automaton) -> str | None:
    """Return a path that both inclusions match and no exclusion does."""
    try:
        return find_path([build_automaton((first,)), build_automaton((second,))], exclusions)
    except TooComplexError:
        return find_common_path(first, second)
