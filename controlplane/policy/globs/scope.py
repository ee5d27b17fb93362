"""What an intent may change: a list of globs as one value that answers questions about paths."""

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
    inclusions: tuple[Alternative, ...] = field(compare=False, repr=False)
    exclusions: tuple[Alternative, ...] = field(compare=False, repr=False)
    _exact: frozenset[str] = field(compare=False, repr=False)
    _include_matcher: Matcher = field(compare=False, repr=False)
    _exclude_matcher: Matcher = field(compare=False, repr=False)

    @staticmethod
    def from_patterns(patterns: Iterable[str], *, case_insensitive: bool = False) -> Scope:
        return _scope(tuple(patterns), case_insensitive)

    @property
    def is_empty(self) -> bool:
        """Whether there are no patterns at all; a scope of unreadable ones is not empty."""
        return not self.patterns

    def matches(self, path: str) -> bool:
        """Whether a canonical path is in scope. The workspace root ("") never is."""
        own = fold_case(path) if self.case_insensitive else path
        return self._include_matcher.matches(own) and not self._exclude_matcher.matches(own)

    def excludes(self, path: str) -> bool:
        """Whether a canonical path is kept out, whatever includes it."""
        return self._exclude_matcher.matches(fold_case(path) if self.case_insensitive else path)

    def names_exactly(self, path: str) -> bool:
        """Whether a pattern without wildcards and braces is exactly this path."""
        return (fold_case(path) if self.case_insensitive else path) in self._exact

    def nearest(self, path: str) -> str | None:
        """The pattern that decided against a path, or that comes closest to it, as it was written."""
        own = fold_case(path) if self.case_insensitive else path
        return _nearness(self.patterns, self.case_insensitive).find(own)

    def covers_below(self, folder: str) -> bool:
        """Whether every path below a canonical folder is in scope (the folder itself apart)."""
        own = fold_case(folder) if self.case_insensitive else folder
        below: Alternative = (*((name,) for name in own.split("/") if name), Wildcard.GLOBSTAR)
        return _within((below,), (), self)


def is_subset(inner: Scope, outer: Scope) -> bool:
    """Whether every path of `inner` is in `outer`; False as well when that is too hard to tell."""
    return _within(inner.inclusions, inner.exclusions, outer)


def _within(inner: Sequence[Alternative], without: tuple[Alternative, ...], outer: Scope) -> bool:
    """Whether all that `inner` matches and `without` does not is in `outer`."""
    questions = [([each], without + outer.inclusions) for each in inner]
    questions += [([each, hole], without) for each in inner for hole in outer.exclusions]
    try:
        return all(
            find_path([build_automaton((w,)) for w in wanted], build_automaton(avoided)) is None
            for wanted, avoided in questions
        )
    except TooComplexError:
        return False


def _parsed(pattern: str, *, folded: bool) -> Glob | None:
    parsed = parse(_CASED_CLASS.sub("[:alpha:]", fold_case(pattern)) if folded else pattern)
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
def _nearness(patterns: tuple[str, ...], case_insensitive: bool) -> ClosestPattern:
    return ClosestPattern((pattern, _parsed(pattern, folded=case_insensitive)) for pattern in patterns)
