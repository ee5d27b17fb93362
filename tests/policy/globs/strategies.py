"""Small worlds in which every path can be tried, and the patterns to try them with."""

from __future__ import annotations

from itertools import product

from hypothesis import strategies as st

from controlplane.policy.paths.canonical import CanonicalPath, canonicalize

NAMES = ("a", "b", "ab", "x", ".a", "a.b", "ba")
PATHS = tuple("/".join(names) for depth in (1, 2, 3) for names in product(NAMES, repeat=depth))

SEGMENTS = st.sampled_from(
    ["a", "b", "*", "**", "**", "?", "a*", "*b", "[ab]", "[!a]*", "{a,ab}", ".a", "a.?", "*a*"]
)
PATTERNS = st.lists(SEGMENTS, min_size=1, max_size=4).map("/".join)
SIGNED = st.tuples(st.sampled_from(["", "", "", "!"]), PATTERNS).map("".join)
SCOPES = st.lists(SIGNED, min_size=1, max_size=4)


def is_canonical(path: str) -> bool:
    return canonicalize(path, root=None, cwd=None, writing=True) == CanonicalPath(path, path)
