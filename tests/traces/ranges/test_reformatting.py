"""What a formatter may do to a line without making it another."""

from __future__ import annotations

import pytest

from traces.ranges.line_diff import DiffHunk, WorkLimit, find_common_runs
from traces.ranges.reformatting import TokenizedLines, match_reformatted


def same(before, after, path="a.py", *, budget=10_000):
    """(line after, line before), from 1, of the lines that are variants."""
    one, two = before.encode().split(b"\n"), after.encode().split(b"\n")
    gap = DiffHunk(0, len(one), 0, len(two))
    found = match_reformatted(TokenizedLines(one, path), TokenizedLines(two, path), gap, WorkLimit(budget))
    return sorted((after + 1, before + 1) for after, before in found)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x=1", "x = 1"),
        ("\tif (a){", "    if (a) {"),
        ("f( [ 1,2 ] )", "f([1, 2])"),
        ("x = 1", "x = 1\r"),
        ("say('hello')", 'say("hello")'),
    ],
)
def test_one_line_is_a_variant_of_another(before, after):
    assert same(before, after) == [(1, 1)]


@pytest.mark.parametrize(
    ("before", "after", "path"),
    [
        ("return x", "returnx", "a.py"),
        ("x = 1", "x == 1", "a.py"),
        ("a - -b", "a -- b", "a.py"),
        ("x = 'a'", 'x = "a"', "a.go"),
        ("echo '$HOME'", 'echo "$HOME"', "a.sh"),
        ("x = 'a\"b'", 'x = "a"b"', "a.py"),
        ("f(a,)", "f(a)", "a.py"),
    ],
)
def test_what_means_something_else_is_no_variant(before, after, path):
    assert same(before, after, path) == []


def test_a_statement_over_several_lines_is_one_again_and_the_other_way_round():
    wide, tall = "x = 1\ncall(first, second)\ny = 2", "z = 3\ncall(\n    first,\n    second,\n)\nw = 4"
    assert same(wide, tall) == [(2, 2), (3, 2), (4, 2), (5, 2)]
    assert same(tall, wide) == [(2, 2)]


@pytest.mark.parametrize("opener", ["call(", "x = [", "x = {", "def area("])
def test_a_comma_behind_the_last_element_is_a_formatters(opener):
    closer = {"(": ")", "[": "]", "{": "}"}[opener[-1]]
    assert same(f"{opener}one{closer}", f"{opener}\n    one,\n{closer}")


@pytest.mark.parametrize("opener", ["x = (", "return (", "table[", "table[0]["])
def test_a_comma_that_makes_a_tuple_is_not(opener):
    closer = ")" if opener.endswith("(") else "]"
    assert same(f"{opener}one{closer}", f"{opener}\n    one,\n{closer}") == []


def test_a_comma_added_in_a_list_with_one_element_a_line_is_a_formatters():
    before, after = [b"    a,", b"    b", b")"], [b"    a,", b"    b,", b")"]
    gap = DiffHunk(1, 2, 1, 2)
    assert list(
        match_reformatted(TokenizedLines(before, "a.py"), TokenizedLines(after, "a.py"), gap, WorkLimit(100))
    ) == [(1, 1)]


def test_a_text_of_one_line_repeated_costs_no_more_than_the_bound():
    budget = WorkLimit(50_000)
    assert find_common_runs([b"a", b"b"] * 50_000, [b"b", b"c", b"a"] * 50_000, budget) == []
    assert budget.is_exhausted or budget.remaining >= 0
    before, after = "f(\n" * 3000, "g(\n" * 3000 + "x"
    assert same(before, after, budget=20_000) == []
