"""Diffs of hostile texts take bounded time."""

from __future__ import annotations

import pytest

from sessions.approvals.card.previews.hunks import diff_texts
from tests.workload import bounded


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\n" * 100_000, "\n" * 99_000 + "x"),
        ("." * 100_000, "," + "." * 100_000),
        ("ab\n" * 20_000, "ba\nab\n" * 10_000),
        ("x." * 900 + "\n" + "y\n" * 500, "y." * 900 + "\n" + "z\n" * 500),
    ],
)
def test_hostile_texts_are_compared_in_bounded_time(before, after):
    with bounded(100):
        hunks = diff_texts(before, after)
    old = [line for hunk in hunks for line in hunk.lines if line.sign == "-"]
    new = [line for hunk in hunks for line in hunk.lines if line.sign == "+"]
    assert old or new


def test_beyond_the_budget_the_middle_is_shown_as_a_whole():
    before = "same\n" * 5 + "a\n" * 600 + "end\n" * 5
    after = "same\n" * 5 + "b\n" + "a\n" * 598 + "c\n" + "end\n" * 5
    (hunk,) = diff_texts(before, after, old=11, new=21)
    assert hunk.header.startswith("@@ -13,")
    assert [line.sign for line in hunk.lines[:4]] == [" ", " ", " ", "-"]
    assert [(line.old, line.new) for line in hunk.lines[-3:]] == [(616, 626), (617, 627), (618, 628)]
    assert sum(line.sign == "+" for line in hunk.lines) == 600
