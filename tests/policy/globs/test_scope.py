"""A scope answers exactly: what it matches, names, covers and shares with another."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controlplane.policy.globs.overlaps import find_overlap
from controlplane.policy.globs.scope import Scope, is_subset
from tests.policy.globs.strategies import PATHS, SCOPES, SIGNED


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


@pytest.mark.deep
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


@pytest.mark.deep
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
