"""Which scopes share a path: two of them, or all pairs of a thousand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from controlplane.policy.globs.automaton import Automaton, TooComplexError, build_automaton, find_path
from controlplane.policy.globs.intersection import PatternTree, find_common_path
from controlplane.policy.globs.scope import Scope
from controlplane.policy.globs.syntax import Alternative

Pair = tuple[int, int]


def find_overlap(a: Scope, b: Scope) -> str | None:
    """A path that both scopes match; None when there is none."""
    return next((path for _, _, path in find_overlaps((a, b))), None)


def find_overlaps(scopes: Sequence[Scope]) -> Iterator[tuple[int, int, str]]:
    """All pairs of scopes (by index, lower first) that share a path, each with such a path.

    Decided exactly, exclusions included. Only where a pair is tangled beyond `MAX_STEPS` the answer
    errs towards an overlap, with a path that the inclusions share or, where that is the hard part, one has.
    """
    owners: dict[Alternative, list[int]] = {}
    for owner, scope in enumerate(scopes):
        for alternative in scope.inclusions:
            owners.setdefault(alternative, []).append(owner)
    alternatives = list(owners)
    index = PatternTree(alternatives)
    pairs = _Pairs(scopes)
    for number, one in enumerate(alternatives):
        for partner in index.partners(number):
            if pairs.are_complete(owners[one]):
                break
            other = alternatives[partner]
            missing = pairs.missing(owners[one], owners[other])
            yield from pairs.compared(one, other, missing) if missing else ()
    yield from pairs.around_exclusions()


class _Pairs:
    """Which pairs of scopes are known to overlap, and which may do so around their exclusions."""

    def __init__(self, scopes: Sequence[Scope]) -> None:
        self._scopes = scopes
        self._found: set[Pair] = set()
        self._partners = [1] * len(scopes)  # each is its own
        self._shut: dict[Pair, list[tuple[Alternative, Alternative]]] = {}

    def are_complete(self, owners: list[int]) -> bool:
        return all(self._partners[owner] == len(self._scopes) for owner in owners)

    def missing(self, ours: list[int], theirs: list[int]) -> list[Pair]:
        every = {(a, b) if a < b else (b, a) for a in ours for b in theirs if a != b}
        return sorted(every - self._found)

    def compared(
        self, one: Alternative, other: Alternative, missing: list[Pair]
    ) -> Iterator[tuple[int, int, str]]:
        """The pairs that overlap because these two inclusions meet."""
        path = find_common_path(one, other)
        if path is None:
            return
        for pair in missing:
            a, b = pair
            if self._scopes[a].excludes(path) or self._scopes[b].excludes(path):
                self._shut.setdefault(pair, []).append((one, other))
                continue
            self._found.add(pair)
            self._partners[a] += 1
            self._partners[b] += 1
            yield a, b, path

    def around_exclusions(self) -> Iterator[tuple[int, int, str]]:
        """The pairs whose first common path is excluded, but not every one."""
        for pair in sorted(self._shut.keys() - self._found):
            a, b = (self._scopes[owner] for owner in pair)
            shadow = build_automaton(a.exclusions + b.exclusions)
            paths = (_outside(one, other, shadow) for one, other in self._shut[pair])
            path = next((path for path in paths if path is not None), None)
            if path is not None:
                yield (*pair, path)


def _outside(one: Alternative, other: Alternative, shadow: Automaton) -> str | None:
    """A path that both inclusions match and no exclusion holds."""
    try:
        return find_path([build_automaton((one,)), build_automaton((other,))], shadow)
    except TooComplexError:
        return find_common_path(one, other)
