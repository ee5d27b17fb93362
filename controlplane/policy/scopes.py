"""What an intent may change: a list of globs as one value that answers questions about paths."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING

from controlplane.policy.atoms import Alternative, Part, Wild
from controlplane.policy.automata import TooTangledError, automaton, find
from controlplane.policy.globs import Glob, parse
from controlplane.policy.matching import Matcher, matcher
from controlplane.policy.meetings import Index, meeting
from controlplane.policy.paths import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_CASED_CLASS = re.compile(r"\[:(?:upper|lower):\]")


@dataclass(frozen=True, slots=True)
class Scope:
    """An ordered list of patterns. Scopes of the same patterns are equal and are made once.

    A path is in scope when a pattern includes it and none excludes it. A pattern that cannot be
    read includes nothing; an exclusion that cannot be read shuts the whole scope, because nobody
    knows what it was to protect.
    """

    patterns: tuple[str, ...]
    case_insensitive: bool
    included: tuple[Alternative, ...] = field(compare=False, repr=False)
    excluded: tuple[Alternative, ...] = field(compare=False, repr=False)
    _exact: frozenset[str] = field(compare=False, repr=False)
    _take: Matcher = field(compare=False, repr=False)
    _leave: Matcher = field(compare=False, repr=False)

    @staticmethod
    def of(patterns: Iterable[str], *, case_insensitive: bool = False) -> Scope:
        return _scope(tuple(patterns), case_insensitive)

    @property
    def is_empty(self) -> bool:
        """Whether there are no patterns at all; a scope of unreadable ones is not empty."""
        return not self.patterns

    def matches(self, path: str) -> bool:
        """Whether a canonical path is in scope. The workspace root ("") never is."""
        own = fold(path) if self.case_insensitive else path
        return self._take.matches(own) and not self._leave.matches(own)

    def names(self, path: str) -> bool:
        """Whether a pattern without wildcards and braces is exactly this path."""
        return (fold(path) if self.case_insensitive else path) in self._exact

    def nearest(self, path: str) -> str | None:
        """The pattern that decided against a path, or that comes closest to it, as it was written.

        The exclusion that holds it; else the inclusion that shares most of the path from the left,
        then from the right. None when no inclusion shares anything.
        """
        own = fold(path) if self.case_insensitive else path
        globs = [(pattern, _parsed(pattern, folded=self.case_insensitive)) for pattern in self.patterns]
        for pattern, glob in globs:
            if pattern.startswith("!") and (glob is None or matcher(glob.alternatives).matches(own)):
                return pattern
        shares = [
            (max(_shared(a, own) for a in glob.alternatives), pattern) for pattern, glob in globs if glob
        ]
        best = max((s for s in shares if not s[1].startswith("!")), key=lambda s: s[0], default=None)
        return best[1] if best and best[0] > (0, 0) else None

    def covers_below(self, folder: str) -> bool:
        """Whether every path below a canonical folder is in scope (the folder itself apart)."""
        own = fold(folder) if self.case_insensitive else folder
        below: Alternative = (*(tuple(name) for name in own.split("/") if name), Wild.GLOBSTAR)
        return _within((below,), (), self)


def subset(inner: Scope, outer: Scope) -> bool:
    """Whether every path of `inner` is in `outer`; False as well when that is too hard to tell."""
    return _within(inner.included, inner.excluded, outer)


def overlap(a: Scope, b: Scope) -> str | None:
    """A path that both scopes match; None when there is none."""
    return next((path for _, _, path in overlaps((a, b))), None)


def overlaps(scopes: Sequence[Scope]) -> Iterator[tuple[int, int, str]]:
    """All pairs of scopes (by index, lower first) that share a path, each with such a path.

    Decided exactly, exclusions included. Only where these tangle a pair beyond `MAX_STEPS` the
    answer errs towards an overlap, with a path that the inclusions share.
    """
    owners: dict[Alternative, list[int]] = {}
    for owner, scope in enumerate(scopes):
        for alternative in scope.included:
            owners.setdefault(alternative, []).append(owner)
    alternatives = list(owners)
    index = Index(alternatives)
    pairs = _Pairs(len(scopes))
    shut: dict[tuple[int, int], list[tuple[Alternative, Alternative]]] = {}
    for number, one in enumerate(alternatives):
        for partner in index.partners(number):
            if pairs.are_complete(owners[one]):
                break
            other = alternatives[partner]
            wanted = pairs.missing(owners[one], owners[other])
            path = meeting(one, other) if wanted else None
            if path is None:
                continue
            for pair in wanted:
                if all(scopes[owner].matches(path) for owner in pair):
                    pairs.add(pair)
                    yield (*pair, path)
                else:
                    shut.setdefault(pair, []).append((one, other))
    for pair in shut.keys() - pairs.found:
        path = _around_exclusions(shut[pair], [scopes[owner] for owner in pair])
        if path is not None:
            yield (*pair, path)


class _Pairs:
    """Which pairs of scopes are known to overlap."""

    def __init__(self, count: int) -> None:
        self.found: set[tuple[int, int]] = set()
        self._partners = [1] * count  # each is its own

    def add(self, pair: tuple[int, int]) -> None:
        self.found.add(pair)
        for owner in pair:
            self._partners[owner] += 1

    def missing(self, ours: list[int], theirs: list[int]) -> list[tuple[int, int]]:
        every = ((a, b) if a < b else (b, a) for a in ours for b in theirs if a != b)
        return [pair for pair in every if pair not in self.found]

    def are_complete(self, owners: list[int]) -> bool:
        return all(self._partners[owner] == len(self._partners) for owner in owners)


def _around_exclusions(tried: list[tuple[Alternative, Alternative]], pair: list[Scope]) -> str | None:
    """A path that two inclusions share and no exclusion of either scope holds."""
    shadow = automaton(pair[0].excluded + pair[1].excluded)
    for one, other in tried:
        try:
            path = find([automaton((one,)), automaton((other,))], shadow)
        except TooTangledError:
            return meeting(one, other)
        if path is not None:
            return path
    return None


def _within(inner: Sequence[Alternative], without: tuple[Alternative, ...], outer: Scope) -> bool:
    """Whether all that `inner` matches and `without` does not is in `outer`."""
    questions = [([each], without + outer.included) for each in inner]
    questions += [([each, hole], without) for each in inner for hole in outer.excluded]
    try:
        return all(
            find([automaton((w,)) for w in wanted], automaton(avoided)) is None
            for wanted, avoided in questions
        )
    except TooTangledError:
        return False


def _shared(alternative: Alternative, path: str) -> tuple[int, int]:
    """How many segments of a path an alternative fits from the left and, past those, from the right."""
    names = path.split("/")
    left = _run(zip(alternative, names, strict=False))
    right = _run(zip(reversed(alternative[left:]), reversed(names[left:]), strict=False))
    return left, right


def _run(pairs: Iterable[tuple[Part, str]]) -> int:
    fits = takewhile(
        lambda pair: isinstance(pair[0], tuple) and matcher(((pair[0],),)).matches(pair[1]), pairs
    )
    return sum(1 for _ in fits)


def _parsed(pattern: str, *, folded: bool) -> Glob | None:
    parsed = parse(_CASED_CLASS.sub("[:alpha:]", fold(pattern)) if folded else pattern)
    return parsed if isinstance(parsed, Glob) else None


@lru_cache(maxsize=4096)
def _scope(patterns: tuple[str, ...], case_insensitive: bool) -> Scope:
    globs = [(pattern, _parsed(pattern, folded=case_insensitive)) for pattern in patterns]
    shut = any(glob is None and pattern.startswith("!") for pattern, glob in globs)
    taking = [glob for _, glob in globs if glob and not glob.excludes and not shut]
    leaving = [glob for _, glob in globs if glob and glob.excludes]
    included = tuple(alternative for glob in taking for alternative in glob.alternatives)
    excluded = tuple(alternative for glob in leaving for alternative in glob.alternatives)
    exact = frozenset(glob.exact for glob in taking if glob.exact is not None)
    return Scope(patterns, case_insensitive, included, excluded, exact, matcher(included), matcher(excluded))
