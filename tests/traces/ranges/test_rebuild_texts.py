"""Texts that nobody committed, made again from the edits that led to them."""

from __future__ import annotations

import hashlib

from hypothesis import given, settings
from hypothesis import strategies as st

from traces.ranges import rebuild_texts
from traces.ranges.lineage import split_lines
from traces.ranges.rebuild_texts import Edit, insert_rebuilt_versions
from traces.ranges.track_lines import FileVersion


def sha(text):
    return "sha256:" + hashlib.sha256(text).hexdigest()


def version(text, seconds, *parents):
    return FileVersion(
        f"c{seconds}" if seconds is not None else "", split_lines(text), "a.py", parents, seconds
    )


def texts(found):
    return [b"".join(one.lines) for one in found]


def test_the_texts_between_two_commits_are_found_from_the_later_one_back():
    one, two, three = b"a = 1\nb = 2\n", b"a = 10\nb = 2\n", b"a = 10\nb = 20\n"
    edits = [Edit(b"a = 1\n", b"a = 10\n", 10), Edit(b"b = 2", b"b = 20", 20)]
    wanted = {sha(two): 11, sha(three): 21}
    found, places = insert_rebuilt_versions(
        [version(one, 0), version(three, 100, 0), version(three, None, 1)], edits, wanted
    )
    assert texts(found) == [one, two, three, three]
    assert [one.parents for one in found] == [(), (0,), (1,), (2,)]
    assert (found[1].revision, found[1].timestamp, places) == ("", 11, [0, 2, 3])


def test_a_text_whose_hash_nobody_recorded_is_not_made_up():
    one, three = b"a = 1\nb = 2\n", b"a = 10\nb = 20\n"
    edits = [Edit(b"a = 1\n", b"a = 10\n", 10), Edit(b"b = 2", b"b = 20", 20)]
    found, _ = insert_rebuilt_versions([version(one, 0), version(three, None, 0)], edits, {sha(b"other"): 11})
    assert texts(found) == [one, three]


def test_a_whole_file_that_a_call_wrote_is_known_and_leads_on():
    one, two, last = b"x\n", b"x\ny\n", b"unlike\n"
    edits = [Edit(b"", one, 5, is_full_text=True), Edit(b"x\n", b"x\ny\n", 10)]
    found, _ = insert_rebuilt_versions([version(last, None)], edits, {sha(one): 6, sha(two): 11})
    assert texts(found) == [one, two, last]
    assert [one.parents for one in found] == [(), (0,), (1,)]


def test_a_merge_and_the_oldest_version_that_was_read_have_nothing_put_before_them():
    one, two = b"x\n", b"x\ny\n"
    edits = [Edit(b"", one, 5, is_full_text=True)]
    cut = FileVersion("c", split_lines(two), "a.py", (), 100, is_truncated=True)
    assert texts(insert_rebuilt_versions([cut], edits, {sha(one): 6})[0]) == [two]


def test_the_search_has_an_end(monkeypatch):
    text = b"a" * 10_000
    edits = [Edit(b"b", b"a", at) for at in range(300)]
    monkeypatch.setattr(rebuild_texts, "MAX_BYTES", 100_000)
    assert texts(insert_rebuilt_versions([version(text, None)], edits, {sha(b"never"): 1})[0]) == [text]


@settings(max_examples=60, deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.integers(0, 30), st.integers(0, 3), st.integers(1, 3)), min_size=1, max_size=10
    )
)
def test_every_step_of_a_session_is_found_again(steps):
    text, wanted, edits, passed = b"first = 0\n", {}, [], []
    for number, (start, gone, made) in enumerate(steps):
        lines = list(split_lines(text))
        first = min(start, len(lines) - 1)
        old = b"".join(lines[first : first + gone + 1])
        new = b"".join(b"line_%d_%d()\n" % (number, at) for at in range(made))
        at = sum(map(len, lines[:first]))
        text = text[:at] + new + text[at + len(old) :]
        edits.append(Edit(old, new, 10 * number + 10))
        wanted[sha(text)] = 10 * number + 11
        passed.append(text)
    found, _ = insert_rebuilt_versions([version(text, None)], edits, wanted)
    assert texts(found) == passed
