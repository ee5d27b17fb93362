"""Lines and the ranges that explain them."""

from __future__ import annotations

import hashlib

from hypothesis import given, settings
from hypothesis import strategies as st

from traces.ranges.lineage import IN_PLACE, MOVED, UNCLAIMED, Claim, OriginRange, trace_lines


def sha(text):
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def test_a_range_that_was_pushed_down_is_moved():
    found = trace_lines(b"new\na\nb\n", [Claim(1, 1, 2, sha("a\nb\n"))])
    assert found.ranges == (OriginRange(1, 1, UNCLAIMED, None), OriginRange(2, 3, MOVED, 1))


def test_a_hash_of_the_whole_file_leaves_a_range_in_place():
    found = trace_lines(b"a\nb\nc\n", [Claim(1, 2, 2, sha("a\nb\nc\n"))])
    assert found.ranges == (
        OriginRange(1, 1, UNCLAIMED, None),
        OriginRange(2, 2, IN_PLACE, 1),
        OriginRange(3, 3, UNCLAIMED, None),
    )


def test_the_first_claim_has_the_line_and_the_older_keeps_the_rest():
    found = trace_lines(b"a\nb\nc\n", [Claim(2, 2, 2, sha("b")), Claim(1, 1, 3, sha("a\nb\nc"))])
    assert [(span.start, span.end, span.key) for span in found.ranges] == [(1, 1, 1), (2, 2, 2), (3, 3, 1)]


def test_changed_lines_are_nobodys():
    found = trace_lines(b"a\nX\n", [Claim(1, 1, 2, sha("a\nb\n"))])
    assert found.ranges == (OriginRange(1, 2, UNCLAIMED, None),)
    assert found.changed == (1,)


def test_other_hashes_and_searches_over_the_bound_are_called_unchecked():
    claims = [Claim(1, 1, 1, "murmur3:9f2e8a1b"), Claim(2, 1, 1, sha("b")), Claim(3, 0, 0, sha("b"))]
    assert trace_lines(b"a\nb\n", claims, max_hashed=1).unchecked == (1, 2, 3)


def test_a_range_longer_than_the_file_is_changed_and_an_empty_file_has_no_line():
    found = trace_lines(b"", [Claim(1, 1, 2_000_000_000, sha("a"))])
    assert (found.lines, found.ranges, found.changed) == (0, (), (1,))


def test_a_file_that_an_entry_emptied_is_still_as_recorded():
    claims = [Claim(2, 1, 1, sha("")), Claim(1, 1, 1, sha("a\n"))]
    assert trace_lines(b"", claims).changed == (1,)
    assert trace_lines(b"b\n", claims).changed == (2, 1)


def test_a_carriage_return_alone_ends_no_line():
    found = trace_lines(b"a\rb\r\nc", [Claim(1, 1, 1, sha("a\rb"))])
    assert found.ranges == (OriginRange(1, 1, IN_PLACE, 1), OriginRange(2, 2, UNCLAIMED, None))


def test_many_claims_on_many_lines_stay_cheap():
    text = "\n" * 50_000
    claims = [Claim(key, 1, 50_000, sha(text)) for key in range(2000)]
    moved = [Claim(2000 + key, 1, 1 + key, sha(str(key))) for key in range(2000)]
    found = trace_lines(text.encode(), [*claims, *moved])
    assert found.ranges == (OriginRange(1, 50_000, IN_PLACE, 0),)
    assert len(found.changed) + len(found.unchecked) == 2000


LINES = st.lists(st.sampled_from(["a", "b", "", "  x", "y\r"]), max_size=12)


@settings(max_examples=60, deadline=None)
@given(before=LINES, written=LINES.filter(bool), after=LINES, start=st.integers(1, 30))
def test_lines_that_are_still_there_are_found_wherever_they_are(before, written, after, start):
    text = "".join(f"{line}\n" for line in [*before, *written, *after])
    own = "".join(f"{line}\n" for line in written)
    found = trace_lines(text.encode(), [Claim(5, start, start + len(written) - 1, sha(own))])
    assert found.changed == found.unchecked == ()
    covered = [number for span in found.ranges for number in range(span.start, span.end + 1)]
    assert covered == list(range(1, found.lines + 1))
    mine = [span for span in found.ranges if span.key == 5]
    assert len(mine) == 1
    kept = text.split("\n")[mine[0].start - 1 : mine[0].end]
    assert [line.rstrip("\r") for line in kept] == [line.rstrip("\r") for line in written]
