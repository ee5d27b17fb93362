"""Blocks that were taken out of one place and put into another."""

from __future__ import annotations

from traces.ranges.line_diff import CommonRun, DiffHunk, WorkLimit
from traces.ranges.moved_blocks import find_moved_blocks


def moved(before, after, gaps, budget=1000):
    numbers = {line: number for number, line in enumerate({*before, *after})}
    found = find_moved_blocks(
        [numbers[line] for line in before],
        [numbers[line] for line in after],
        gaps,
        [line.encode() for line in after],
        WorkLimit(budget),
    )
    return list(found)


LONG = "return width * height * depth"


def test_a_block_of_twenty_letters_is_found_and_less_is_not():
    assert moved([LONG, "a", "b"], ["a", "b", LONG], [DiffHunk(0, 1, 0, 0), DiffHunk(3, 3, 2, 3)]) == [
        CommonRun(0, 2, 1)
    ]
    assert moved(["x = 1", "a", "b"], ["a", "b", "x = 1"], [DiffHunk(0, 1, 0, 0), DiffHunk(3, 3, 2, 3)]) == []


def test_a_line_is_taken_out_once():
    found = moved([LONG, "a"], ["a", LONG, LONG], [DiffHunk(0, 1, 0, 0), DiffHunk(2, 2, 1, 3)])
    assert found == [CommonRun(0, 1, 1)]


def test_common_lines_above_a_block_come_along():
    before = [*["}"] * 20, LONG, "a"]
    assert moved(before, ["a", "}", "}", LONG], [DiffHunk(0, 21, 0, 0), DiffHunk(22, 22, 1, 4)]) == [
        CommonRun(18, 1, 3)
    ]


def test_the_longest_of_several_places_is_meant():
    before = [LONG, "one", LONG, "two", "a"]
    assert moved(before, ["a", LONG, "two"], [DiffHunk(0, 4, 0, 0), DiffHunk(5, 5, 1, 3)]) == [
        CommonRun(2, 1, 2)
    ]


def test_over_the_bound_nothing_is_looked_for():
    assert moved([LONG, "a"], ["a", LONG], [DiffHunk(0, 1, 0, 0), DiffHunk(2, 2, 1, 2)], budget=0) == []
