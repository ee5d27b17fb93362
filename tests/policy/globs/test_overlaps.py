"""Scopes that share a path: whether they do, and the path that shows it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controlplane.policy.globs import automaton
from controlplane.policy.globs.overlaps import find_overlap, find_overlaps
from controlplane.policy.globs.scope import Scope
from tests.policy.globs.strategies import PATHS, SCOPES, is_canonical


def both(a: Scope, b: Scope) -> list[str]:
    return [path for path in PATHS if a.matches(path) and b.matches(path)]


@pytest.mark.parametrize(
    ("one", "other", "path"),
    [
        (["src/**"], ["src/**"], "src/x"),
        (["src/**"], ["src/*.ts"], "src/x.ts"),
        (["src/**"], ["**/*.ts"], "src/.ts"),
        (["src/a.ts"], ["src/**"], "src/a.ts"),
        (["src/a\\.ts"], ["src/a.ts"], "src/a.ts"),
        (["src/auth/**"], ["src/authors/**"], None),
        (["src/a.ts"], ["src/a.tsx"], None),
        (["*.ts"], ["src/*.ts"], None),
        (["src/[a-c]*"], ["src/?d"], "src/ad"),
        (["src/[a-c]?"], ["src/[d-f]?"], None),
        (["src/a*1"], ["src/*2"], None),
        (["src/a*"], ["src/b*"], None),
        (["**/a*1/z"], ["**/b*2/z"], None),
        (["src/**", "!src/*"], ["src/*.ts"], None),
        (["src/**", "!src/x.ts"], ["src/*.ts"], "src/.ts"),
        (["src/**", "!src/**/*.ts"], ["**/*.ts", "docs/**"], None),
        (["**", "!**/?", "!**/??"], ["?/**", "??/**"], "x/xxx"),
        (["a./**"], ["a./**"], None),  # no path has a name that ends in a dot
        (["**/~a"], ["**/~*"], "x/~a"),  # nor begins with a tilde at the top
        (["a/**"], [], None),
        (["[\x00-\x1f]"], ["?"], None),
        (["[à-ý]"], ["?"], "à"),
        (["a/x"], ["**/x"], "a/x"),
        (["a/b/x"], ["**/x"], "a/b/x"),
        (["a/*/x"], ["**/x"], "a/x/x"),
        (["a/c/b"], ["a/**/b"], "a/c/b"),
        (["a/**/c/x"], ["a/q/**/x"], "a/q/c/x"),
        (["a/**/b"], ["a/b"], "a/b"),
        (["**/a/**"], ["b/**/a/c"], "b/a/c"),
        (["a/**/b/**/c"], ["a/c"], None),
        (["a/**/b/**/c"], ["a/b/c"], "a/b/c"),
        (["*a"], ["b*"], "ba"),
        (["*a"], ["*b"], None),
        (["a*b"], ["a*c"], None),
        (["a?"], ["?b"], "ab"),
        (["a?"], ["ab?"], None),
        (["[ab]"], ["[bc]"], "b"),
        (["[ab]"], ["[cd]"], None),
        (["[!a]"], ["a"], None),
        ([".*"], ["?a"], ".a"),
        (["?"], ["~"], None),
        (["*"], ["~*"], None),
        (["**"], ["~"], None),
        (["{a,b}/c"], ["b/{c,d}"], "b/c"),
        (["{a,b}/c"], ["d/{c,d}"], None),
        (["a/**"], ["a"], None),
        (["a/**"], ["a/b/**"], "a/b/x"),
        (["**/b/**"], ["a/**"], "a/b/x"),
        (["a"], ["a/**"], None),
        (["x/**"], ["**/y"], "x/y"),
        (["a/b/**"], ["**/c/d"], "a/b/c/d"),
        (["*"], ["*/*"], None),
        (["**/*"], ["*/*"], "x/x"),
        ([".x*"], ["*y"], ".xy"),
        (["a/[~]?"], ["a/?b"], "a/~b"),
    ],
)
def test_overlap_of_two_scopes(one, other, path):
    a, b = Scope.from_patterns(one), Scope.from_patterns(other)
    for found in (find_overlap(a, b), find_overlap(b, a)):
        assert (found is None) == (path is None)
        assert found is None or (a.matches(found) and b.matches(found) and is_canonical(found))
        assert found == path


@pytest.mark.deep
@given(SCOPES, SCOPES)
@settings(max_examples=300, deadline=None)
def test_a_witness_holds_and_without_one_nothing_is_shared(one, other):
    a, b = Scope.from_patterns(one), Scope.from_patterns(other)
    path = find_overlap(a, b)
    if path is None:
        assert both(a, b) == []
    else:
        assert a.matches(path)
        assert b.matches(path)
        assert is_canonical(path)


@pytest.mark.deep
@given(st.lists(SCOPES, min_size=2, max_size=6))
@settings(max_examples=100, deadline=None)
def test_all_pairs_are_the_pairs(lists):
    scopes = [Scope.from_patterns(patterns) for patterns in lists]
    found = {(a, b): path for a, b, path in find_overlaps(scopes)}
    pairs = [(a, b) for b in range(len(scopes)) for a in range(b)]
    assert set(found) == {(a, b) for a, b in pairs if find_overlap(scopes[a], scopes[b]) is not None}
    assert all(scopes[owner].matches(path) for pair, path in found.items() for owner in pair)


@pytest.mark.parametrize("begin", ["", "[~é]"])
def test_names_too_tangled_to_compare_count_as_an_overlap(monkeypatch, begin):
    """Both are valid, and who draws the list of intents must not fail on them."""
    monkeypatch.setattr(automaton, "MAX_STEPS", 100)
    one, other = Scope.from_patterns([begin + "*p?" * 12]), Scope.from_patterns([begin + "*q?" * 12])
    path = find_overlap(one, other)
    assert path is not None
    assert one.matches(path)


def test_tangled_exclusions_are_settled():
    hard = "*a" + "?" * 20
    assert find_overlap(Scope.from_patterns([hard, f"!{hard}"]), Scope.from_patterns([hard])) is None
    assert (
        find_overlap(Scope.from_patterns(["**", f"!**/{hard}"]), Scope.from_patterns([f"**/b{'?' * 20}"]))
        is not None
    )
