"""What two texts have in common."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from traces.ranges.line_diff import CommonRun, DiffHunk, WorkLimit, find_common_runs, list_hunks

TEXTS = st.lists(st.sampled_from("abcdefgh"), max_size=25)


def longest(one, two):
    """The length of the longest common subsequence."""
    row = [0] * (len(two) + 1)
    for left in one:
        above, row = row, [0]
        for at, right in enumerate(two):
            row.append(above[at] + 1 if left == right else max(above[at + 1], row[at]))
    return row[-1]


@settings(max_examples=200, deadline=None)
@given(one=TEXTS, two=TEXTS)
def test_runs_are_equal_ascend_and_do_not_overlap_and_gaps_are_the_rest(one, two):
    runs = find_common_runs(one, two, WorkLimit(10_000))
    before = after = 0
    for run in runs:
        assert run.before >= before
        assert run.after >= after
        assert one[run.before : run.before + run.length] == two[run.after : run.after + run.length]
        before, after = run.before + run.length, run.after + run.length
    gaps = list(list_hunks(runs, len(one), len(two)))
    assert sum(gap.a1 - gap.a0 for gap in gaps) == len(one) - sum(run.length for run in runs)
    assert sum(gap.b1 - gap.b0 for gap in gaps) == len(two) - sum(run.length for run in runs)


@settings(max_examples=100, deadline=None)
@given(kept=st.lists(st.integers(), unique=True, max_size=30), seed=st.randoms())
def test_lines_that_are_there_once_and_keep_their_order_are_all_found(kept, seed):
    one, two = ([x for line in kept for x in [line, *[word] * seed.randint(0, 2)]] for word in ("new", "old"))
    assert sum(run.length for run in find_common_runs(one, two, WorkLimit(10_000))) == len(kept)


@settings(max_examples=100, deadline=None)
@given(one=st.lists(st.sampled_from("ab"), max_size=12), two=st.lists(st.sampled_from("ab"), max_size=12))
def test_a_small_gap_without_anchors_loses_nothing_beyond_its_ends(one, two):
    found = sum(run.length for run in find_common_runs(["x", *one, "y"], ["x", *two, "y"], WorkLimit(10_000)))
    assert found <= longest(one, two) + 2
    assert found >= 2


def test_gaps_lie_before_between_and_behind():
    assert list(list_hunks([CommonRun(1, 0, 2), CommonRun(4, 2, 1)], 5, 4)) == [
        DiffHunk(0, 1, 0, 0), DiffHunk(3, 4, 2, 2), DiffHunk(5, 5, 3, 4),
    ]  # fmt: skip
