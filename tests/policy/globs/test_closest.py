"""The nearest pattern, held against its definition read out word for word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from controlplane.policy.globs.closest import ClosestPattern
from controlplane.policy.globs.match import build_matcher
from controlplane.policy.globs.parse import Glob, parse
from tests.policy.globs.strategies import PATHS, SIGNED


def fit(alternative, names):
    """Segments that fit from the left, then those of the rest that fit from the right."""

    def run(pairs):
        count = 0
        for part, name in pairs:
            if not isinstance(part, tuple) or not build_matcher(((part,),)).matches(name):
                break
            count += 1
        return count

    left = run(zip(alternative, names, strict=False))
    return left, run(zip(alternative[left:][::-1], names[left:][::-1], strict=False))


def by_definition(patterns, path):
    names = path.split("/")
    best, most = None, (0, 0)
    for pattern, glob in patterns:
        if pattern.startswith("!"):
            if glob is None or build_matcher(glob.alternatives).matches(path):
                return pattern
        elif glob is not None:
            shared = max(fit(alternative, names) for alternative in glob.alternatives)
            best, most = (pattern, shared) if shared > most else (best, most)
    return best


@given(st.lists(SIGNED, max_size=6), st.sampled_from(PATHS))
def test_the_nearest_pattern_is_as_defined(patterns, path):
    parsed = [(pattern, parse(pattern)) for pattern in patterns]
    known = [(pattern, glob if isinstance(glob, Glob) else None) for pattern, glob in parsed]
    assert ClosestPattern(known).find(path) == by_definition(known, path)


def test_of_folders_the_deepest_one_on_the_way_is_told_and_of_equals_the_first():
    def nearest(path):
        return ClosestPattern((pattern, parse(pattern)) for pattern in ["a/b/c/**", "a/b/**", "a/**"]).find(
            path
        )

    assert nearest("a/b/x") == "a/b/c/**"
    assert nearest("a/x/y") == "a/b/c/**"
    assert nearest("b/a/x") is None


def test_a_wildcard_before_the_last_one_counts_as_a_segment():
    """Not as the folder in front of it, which a pattern of its own may name."""
    nearness = ClosestPattern([("a/b/x", parse("a/b/x")), ("a/*/**", parse("a/*/**"))])
    assert nearness.find("a/c/d") == "a/*/**"
