"""The globs of a scope mean what the contract says, no more, and what cannot be meant is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcmatch import glob as wcmatch

from controlplane.policy.globs.match import build_matcher
from controlplane.policy.globs.parse import Glob, GlobProblem, expand_braces, find_problem, parse
from controlplane.policy.globs.scope import Scope
from tests.policy import gate_cases
from tests.policy.globs.strategies import PATHS
from tests.workload import bounded

ORACLE = wcmatch.GLOBSTAR | wcmatch.BRACE | wcmatch.DOTGLOB | wcmatch.FORCEUNIX
ATOMS = st.sampled_from(
    [
        "a",
        "b",
        "/",
        "/",
        "*",
        "**",
        "?",
        "[ab]",
        "[!a]",
        "[a-c]",
        "[]a]",
        "{a,b}",
        "{a/b,}",
        ".",
        "/**/",
        "\\*",
        "{a}",
    ]
)


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in gate_cases.load("glob")])
def test_gate_cases(case):
    intents = {intent["id"]: intent for intent in case["workspace"].get("intents", gate_cases.STD["intents"])}
    scope = Scope.from_patterns(intents[case["session"]["intent"]]["owned_scope"])
    with bounded(100):
        assert scope.matches(case["call"]["input"]["file_path"]) == (case["expect"]["decision"] == "allow")


@given(st.lists(ATOMS, min_size=1, max_size=7).map("".join))
def test_an_independent_matcher_agrees(pattern):
    glob = parse(pattern)
    if isinstance(glob, GlobProblem) or pattern.startswith("./"):
        return
    oracle = wcmatch.compile([pattern], flags=ORACLE)
    own = build_matcher(glob.alternatives)
    for path in (*PATHS[:80], "a*", "]", "{a}", "c/{a}", "*"):
        assert own.matches(path) == bool(oracle.match(path)), path


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("././src/*.ts", "src/a.ts", True),
        ("!./src/**", "src/a.ts", True),
        ("src/u\u0308/*", "src/\u00fc/a", True),
        ("src/{a}.ts", "src/{a}.ts", True),
        ("{a{b,c}}", "{ab}", True),
        ("src/{1..3}.ts", "src/{1..3}.ts", True),
        ("src/{1..3}.ts", "src/2.ts", False),
        ("src/\\a.ts", "src/a.ts", True),
        ("src\\/a.ts", "src/a.ts", True),
        ("[{]x", "{x", True),
        ("[[:upper:][:digit:]]*", "R2", True),
        ("[[:upper:]]*", "r2", False),
        ("[a\\]b]", "]", True),
        ("[a-]", "-", True),
        ("[ac]", "b", False),
        ("[a-ce-g]", "d", False),
        ("[+-9]x", "/x", False),
        ("a}b", "a}b", True),
        ("**", "", False),
        ("*", "", False),
    ],
)
def test_corners(pattern, path, matches):
    glob = parse(pattern)
    assert isinstance(glob, Glob), glob
    assert build_matcher(glob.alternatives).matches(path) == matches


def test_expansion_keeps_the_order_and_the_escapes():
    assert expand_braces("{a,{b,c}d}/\\{x,y\\}{,1}") == [
        f"{head}/\\{{x,y\\}}{tail}" for head in ("a", "bd", "cd") for tail in ("", "1")
    ]


@pytest.mark.parametrize(
    ("pattern", "suggestion"),
    [
        ("/etc/**", "etc/**"),
        ("!/etc/**", "!etc/**"),
        ("/src/", "src/**"),
        ("/X/", "X/**"),
        ("/", "**"),
        (".//etc", "etc"),
        ("../other/**", None),
        ("a/../../b", None),
        ("**/../b", None),
        ("{a,..}/b", None),
        ("C:/work/**", None),
        ("C:\\work", None),
        ("\\\\server\\share", None),
        ("~/x", None),
        ("~ada/x", None),
        ("file:///x", None),
    ],
)
def test_patterns_that_leave_the_workspace(pattern, suggestion):
    found = find_problem(pattern)
    assert (found.kind, found.suggestion) == ("ABSOLUTE_PATH", suggestion)


@pytest.mark.parametrize(
    ("pattern", "suggestion", "says"),
    [
        ("src/", "src/**", "slash"),
        ("!src/gen/", "!src/gen/**", "slash"),
        ("./src//", "src/**", "slash"),
        ("", "**", "empty"),
        ("!", "**", "empty"),
        ("  ", "**", "empty"),
        (" src/** ", "src/**", "blank"),
        ("src/[a-", None, "never closed"),
        ("src/[", None, "never closed"),
        ("src/[a\\", None, "never closed"),
        ("src/{a,b", None, "never closed"),
        ("src/{a,{b}", None, "never closed"),
        ("src/a\\", None, "backslash"),
        ("src/[z-a]", None, "high to low"),
        ("src/[[:word:]]", None, "word"),
        ("src/[/-/]x", None, "class"),
        ("a//b", None, "segment"),
        ("a/./b", None, "segment"),
        ("a/../b", None, "segment"),
        (".", None, "segment"),
        ("{/a,b}", None, "segment"),
        ("src/{a/,b}", None, "segment"),
        ("a\u200bb", None, "U+200B"),
        ("a\nb", None, "U+000A"),
        ("a" * 513, None, "512"),
        ("{a,b}" * 9, None, "256"),
        ("{a,b}" * 7 + "x" * 300, None, "16384"),
        ("**/a/" * 33 + "b", None, " cannot be read: it holds more than 32 separate `**`."),
        (None, None, "string"),
        (["src/**"], None, "string"),
    ],
)
def test_patterns_that_cannot_be_meant(pattern, suggestion, says):
    found = find_problem(pattern)
    assert (found.kind, found.suggestion) == ("INVALID_GLOB", suggestion)
    assert says in found.message


@pytest.mark.parametrize(
    "pattern", ["src/**", "!src/gen/**", "**/*.{ts,tsx}", "a[!b-d]?", "{a,b}" * 8, "**/a/" * 32 + "b"]
)
def test_patterns_that_are_fine(pattern):
    assert find_problem(pattern) is None


@given(st.text(alphabet="ab/*?[]{},!\\-^:.~", max_size=24))
def test_every_text_is_read_or_refused_and_suggestions_hold(pattern):
    found = find_problem(pattern)
    if found is None:
        assert Scope.from_patterns([pattern]).matches("a/b") in {True, False}
    elif found.suggestion is not None and "\\" not in pattern:
        again = find_problem(found.suggestion)
        assert again is None or again.suggestion != found.suggestion


SLOW = [
    "*a" * 250 + "b",
    "**/" * 30 + "b",
    "**/a/" * 32 + "b",
    "**/*a*/" * 32 + "b",
    "**/" + "*a" * 120 + "/**/" + "*a" * 120 + "b",
    "{a,b}" * 8 + "/**/" + "*a*" * 3 + "b",
    "?" * 500,
    "[ab]*" * 80,
]


@pytest.mark.parametrize("pattern", SLOW, ids=lambda pattern: pattern[:20])
@pytest.mark.parametrize(
    "path", ["a/" * 2000 + "c", "a" * 255, "/".join(["a" * 255] * 16)], ids=["deep", "long", "both"]
)
def test_no_pattern_takes_long(pattern, path):
    assert find_problem(pattern) is None
    scope = Scope.from_patterns([pattern])
    scope.matches("a")  # compiled once
    with bounded(200):
        scope.matches(path)
