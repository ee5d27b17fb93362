"""A list of globs as one value, such as the `owned_scope` of an intent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from controlplane.policy.globs.automaton import TooComplexError, build_automaton, find_path
from controlplane.policy.globs.closest import ClosestPattern
from controlplane.policy.globs.match import Matcher, build_matcher
from controlplane.policy.globs.parse import Glob, parse
from controlplane.policy.globs.syntax import Alternative, Wildcard
from controlplane.policy.paths.canonical import fold_case

_CASE_CLASS = re.compile(r"\[:(?:upper|lower):\]")


@dataclass(frozen=True, slots=True)
class Scope:
    """An ordered list of patterns. Scopes of the same patterns are equal and are compiled once.

    A path is in scope when a pattern includes it and none excludes it. A pattern that cannot be parsed
    includes nothing; an exclusion that cannot be parsed closes the scope, because nobody knows what it
    was to protect.
    """

    patterns: tuple[str, ...]
    case_insensitive: bool
    inclusions: tuple[Alternative, ...] = field(compare=False, repr=False)
    exclusions: tuple[Alternative, ...] = field(compare=False, repr=False)
    _exact: frozenset[str] = field(compare=False, repr=False)
    _include_matcher: Matcher = field(compare=False, repr=False)
    _exclude_matcher: Matcher = field(compare=False, repr=False)

    @staticmethod
    def from_patterns(patterns: Iterable[str], *, case_insensitive: bool = False) -> Scope:
        return _compile(tuple(patterns), case_insensitive)

    @property
    def is_empty(self) -> bool:
        """Return whether there are no patterns at all; a scope of invalid ones is not empty."""
        return not self.patterns

    def matches(self, path: str) -> bool:
        """Return whether a canonical path is in scope. The workspace root ("") never is."""
        normalized = fold_case(path) if self.case_insensitive else path
        return self._include_matcher.matches(normalized) and not self._exclude_matcher.matches(normalized)

    def excludes(self, path: str) -> bool:
        """Return whether an exclusion matches a canonical path."""
        return self._exclude_matcher.matches(fold_case(path) if self.case_insensitive else path)

    def names_exactly(self, path: str) -> bool:
        """Return whether a pattern without wildcards and braces is exactly this path."""
        return (fold_case(path) if self.case_insensitive else path) in self._exact

    def nearest(self, path: str) -> str | None:
        """Return the exclusion that matches a path, or the pattern that comes closest, as it was written."""
        normalized = fold_case(path) if self.case_insensitive else path
        return _get_closest_pattern(self.patterns, self.case_insensitive).find(normalized)

    def covers_below(self, directory: str) -> bool:
        """Return whether every path below a canonical directory is in scope (the directory itself apart)."""
        normalized = fold_case(directory) if self.case_insensitive else directory
        below: Alternative = (*((name,) for name in normalized.split("/") if name), Wildcard.GLOBSTAR)
        return _is_covered((below,), (), self)


def is_subset(inner: Scope, outer: Scope) -> bool:
    """Return whether every path of `inner` is in `outer`; False also when that is too complex to decide."""
    return _is_covered(inner.inclusions, inner.exclusions, outer)


def _is_covered(inner: Sequence[Alternative], excluded: tuple[Alternative, ...], outer: Scope) -> bool:
    """Whether all that `inner` matches and `without` does not is in `outer`."""
    searches = [([each], excluded + outer.inclusions) for each in inner]
    searches += [([each, hole], excluded) for each in inner for hole in outer.exclusions]
    try:
        return all(
            find_path([build_automaton((w,)) for w in required], build_automaton(avoided)) is None
            for required, avoided in searches
        )
    except TooComplexError:
        return False


def _parse(pattern: str, *, folded: bool) -> Glob | None:
    parsed = parse(_CASE_CLASS.sub("[:alpha:]", fold_case(pattern)) if folded else pattern)
    return parsed if isinstance(parsed, Glob) else None


@lru_cache(maxsize=4096)
def _compile(patterns: tuple[str, ...], case_insensitive: bool) -> Scope:
    globs = [(pattern, _parse(pattern, folded=case_insensitive)) for pattern in patterns]
    is_closed = any(glob is None and pattern.startswith("!") for pattern, glob in globs)
    including = [glob for _, glob in globs if glob and not glob.excludes and not is_closed]
    excluding = [glob for _, glob in globs if glob and glob.excludes]
    included = tuple(alternative for glob in including for alternative in glob.alternatives)
    excluded = tuple(alternative for glob in excluding for alternative in glob.alternatives)
    exact = frozenset(glob.exact for glob in including if glob.exact is not None)
    return Scope(
        patterns,
        case_insensitive,
        included,
        excluded,
        exact,
        build_matcher(included),
        build_matcher(excluded),
    )


@lru_cache(maxsize=1024)
def _get_closest_pattern(patterns: tuple[str, ...], case_insensitive: bool) -> ClosestPattern:
    return ClosestPattern((pattern, _parse(pattern, folded=case_insensitive)) for pattern in patterns)
