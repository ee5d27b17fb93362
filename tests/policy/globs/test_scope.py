"""A scope answers exactly: what it matches, names, covers and shares with another."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controlplane.policy.globs import automaton
from controlplane.policy.globs.overlaps import find_overlap, find_overlaps
from controlplane.policy.globs.scope import Scope, is_subset
from controlplane.policy.globs.syntax import Wildcard
from tests.policy.globs.strategies import PATHS, SCOPES, SIGNED, is_canonical


def both(a: Scope, b: Scope) -> list[str]:
    return [path for path in PATHS if a.matches(path) and b.matches(path)]


def test_scopes_are_values():
    assert Scope.from_patterns(["a", "b"]) is Scope.from_patterns(("a", "b"))
    assert (
        len(
            {
                Scope.from_patterns(["a"]),
                Scope.from_patterns(iter(["a"])),
                Scope.from_patterns(["a"], case_insensitive=True),
            }
        )
        == 2
    )


def test_an_empty_scope_matches_nothing_and_says_so():
    assert Scope.from_patterns([]).is_empty
    assert not Scope.from_patterns([]).matches("a")
    assert not Scope.from_patterns(["!a"]).is_empty
    assert not Scope.from_patterns(["a/"]).is_empty


def test_an_exclusion_wins_wherever_it_stands():
    for patterns in (["!src/gen/**", "src/**"], ["src/**", "!src/gen/**", "src/gen/keep.ts"]):
        assert Scope.from_patterns(patterns).matches("src/a.ts")
        assert not Scope.from_patterns(patterns).matches("src/gen/keep.ts")


def test_an_unreadable_pattern_includes_nothing_and_an_unreadable_exclusion_shuts_the_scope():
    assert Scope.from_patterns(["src/", "docs/**"]).matches("docs/a")
    assert not Scope.from_patterns(["src/", "docs/**"]).matches("src/a")
    shut = Scope.from_patterns(["docs/**", "!docs/[a"])
    assert not shut.matches("docs/b")
    assert not shut.covers_below("docs")
    assert find_overlap(shut, Scope.from_patterns(["**"])) is None
    assert shut.nearest("docs/b") == "!docs/[a"


@pytest.mark.parametrize(
    ("pattern", "path", "named"),
    [
        (".mcp.json", ".mcp.json", True),
        ("./.git/config", ".git/config", True),
        ("app/\\[id\\]/page.tsx", "app/[id]/page.tsx", True),
        (".git/**", ".git/config", False),
        (".git/confi?", ".git/config", False),
        (".git/[c]onfig", ".git/config", False),
        ("{.git/config,src/**}", ".git/config", False),
        ("!.mcp.json", ".mcp.json", False),
        (".MCP.json", ".mcp.json", False),
    ],
)
def test_only_a_pattern_without_wildcards_names_a_path(pattern, path, named):
    assert Scope.from_patterns([pattern]).names_exactly(path) == named


def test_case_is_ignored_on_request():
    scope = Scope.from_patterns(
        ["SRC/**", "[A-C]/[[:upper:]]?.TS", "!src/Gen/**", "Straße"], case_insensitive=True
    )
    assert scope.matches("src/a")
    assert scope.matches("b/xY.ts")
    assert not scope.matches("SRC/GEN/a")
    assert scope.names_exactly("STRASSE")
    assert scope.covers_below("src/A")
    assert scope.nearest("Src/gen/a") == "!src/Gen/**"
    assert not Scope.from_patterns(["SRC/**"]).matches("src/a")


@pytest.mark.parametrize(
    ("patterns", "path", "nearest"),
    [
        (["docs/**", "src/api/**"], "src/auth/a.ts", "src/api/**"),
        (["src/**", "src/auth/*.js"], "src/auth/a.ts", "src/auth/*.js"),
        (["**/*.md", "**/*.ts"], "src/a.md", "**/*.md"),
        (["src/**", "!src/gen/**"], "src/gen/a", "!src/gen/**"),
        (["src/{api,auth}/*"], "src/auth/a/b", "src/{api,auth}/*"),
        (["docs/**"], "src/a.ts", None),
        (["!src/gen/**", "src/**"], "src", "src/**"),
        (["docs/"], "docs/a.md", None),
        (["docs/", "docs/api/**"], "docs/a.md", "docs/api/**"),
        ([], "a", None),
    ],
)
def test_the_nearest_pattern(patterns, path, nearest):
    assert Scope.from_patterns(patterns).nearest(path) == nearest


@pytest.mark.parametrize(
    ("patterns", "folder", "covered"),
    [
        (["src/**"], "src", True),
        (["src/**"], "src/a/b", True),
        (["src/**"], "", False),
        (["**"], "", True),
        (["src/*"], "src", False),
        (["src/*", "src/*/**"], "src", True),
        (["src/[!a]*/**", "src/a*/**", "src/*"], "src", True),
        (["src/**", "!src/gen/**"], "src", False),
        (["src/**", "!src/gen/**"], "src/auth", True),
        (["src/**", "!**/*.ts"], "src/auth", False),
        (["src/**/*"], "src", True),
        (["src/**/?*"], "src", True),
        (["src/**/??*", "src/**/?"], "src", True),
        (["src/auth/**"], "src/auth", True),
        (["*/auth/**"], "src/auth/a", True),
        (["src/a b/**"], "src/a b", True),
        ([], "src", False),
    ],
)
def test_what_covers_a_folder(patterns, folder, covered):
    assert Scope.from_patterns(patterns).covers_below(folder) == covered


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


@given(st.lists(SCOPES, min_size=2, max_size=6))
@settings(max_examples=100, deadline=None)
def test_all_pairs_are_the_pairs(lists):
    scopes = [Scope.from_patterns(patterns) for patterns in lists]
    found = {(a, b): path for a, b, path in find_overlaps(scopes)}
    pairs = [(a, b) for b in range(len(scopes)) for a in range(b)]
    assert set(found) == {(a, b) for a, b in pairs if find_overlap(scopes[a], scopes[b]) is not None}
    assert all(scopes[owner].matches(path) for pair, path in found.items() for owner in pair)


@given(SCOPES, st.sampled_from(["", "a", "b", "ab", "a/b", ".a/x"]))
@settings(max_examples=300, deadline=None)
def test_a_covered_folder_holds_no_path_outside(patterns, folder):
    scope = Scope.from_patterns(patterns)
    below = [path for path in PATHS if path.startswith(f"{folder}/") or not folder]
    if scope.covers_below(folder):
        assert all(scope.matches(path) for path in below)
    elif all(scope.matches(path) for path in below):
        deep = Scope.from_patterns([f"{folder}/**" if folder else "**"])
        assert not is_subset(deep, scope)


@given(SCOPES, SCOPES)
@settings(max_examples=300, deadline=None)
def test_a_subset_matches_nothing_more(one, other):
    inner, outer = Scope.from_patterns(one), Scope.from_patterns(other)
    if is_subset(inner, outer):
        assert all(outer.matches(path) for path in PATHS if inner.matches(path))
    assert is_subset(inner, inner)
    assert is_subset(inner, Scope.from_patterns(["**"]))


@given(SCOPES, st.data())
@settings(max_examples=100, deadline=None)
def test_taking_an_inclusion_away_never_widens(patterns, data):
    gone = data.draw(st.integers(0, len(patterns) - 1))
    left = [pattern for at, pattern in enumerate(patterns) if at != gone or pattern.startswith("!")]
    assert is_subset(Scope.from_patterns(left), Scope.from_patterns(patterns))


@given(SCOPES, SIGNED.filter(lambda pattern: pattern.startswith("!")))
@settings(max_examples=100, deadline=None)
def test_one_exclusion_more_never_widens(patterns, exclusion):
    assert is_subset(Scope.from_patterns([*patterns, exclusion]), Scope.from_patterns(patterns))


def test_questions_that_are_given_up_err_on_the_side_of_care(monkeypatch):
    monkeypatch.setattr(automaton, "MAX_STEPS", 8)
    scope = Scope.from_patterns(["src/**", "!src/x*"])
    assert not Scope.from_patterns(["src/**"]).covers_below("src/deep/down")
    assert find_overlap(scope, Scope.from_patterns(["src/**"])) == "src/x"


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


def test_an_automaton_reads_only_what_globs_are_made_of():
    assert automaton.find_path([automaton.build_automaton((((Wildcard.STAR,),),))]) == "x"
