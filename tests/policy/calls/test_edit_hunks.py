from __future__ import annotations

import pytest

from controlplane.policy.calls import edit_hunks, input_fields


def test_replacements_of_every_spelling():
    for old, new in input_fields.REPLACEMENTS:
        assert edit_hunks.list_interpretations({old: "a", new: "b"}) == [(("a", "b"),)]
        assert edit_hunks.list_interpretations({old: None, new: "b"}) == [(("", "b"),)]
    for key in set(input_fields.CONTENT_KEYS) - {"args"}:
        assert edit_hunks.list_interpretations({key: "b"}) == [(("", "b"),)]


def test_a_list_of_edits_is_read_in_order_and_its_junk_left_out():
    edits = {
        "edits": [{"old_string": "a", "new_string": "b"}, "junk", {"old_string": "c"}],
        "operations": None,
    }
    assert edit_hunks.list_interpretations(edits) == [(("a", "b"), ("c", ""))]


def test_each_spelling_and_each_place_is_a_reading_of_its_own():
    data = {
        "old_string": "a",
        "new_string": "b",
        "search": "b",
        "edits": [{"old_string": "c", "new_string": "d"}],
    }
    assert edit_hunks.list_interpretations(data) == [(("a", "b"),), (("b", ""),), (("c", "d"),)]


def test_an_input_without_text_has_one_empty_reading():
    assert edit_hunks.list_interpretations({"path": "a"}) == [()]
    assert edit_hunks.join_sides(()) == ("", "")


@pytest.mark.parametrize(
    ("diff", "found"),
    [
        ("", []),
        ("plain", [("", "plain")]),
        ("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\nx", [("a", "b")]),
        (
            "------- SEARCH\na\n=======\nb\n+++++++ REPLACE\n<<<<<<< SEARCH\nc\n=======\n>>>>>>> REPLACE",
            [("a", "b"), ("c", "")],
        ),
        ("=======\nb", [("", "=======\nb")]),
        ("=======\nb\n<<<<<<< SEARCH", [("", "b"), ("", "")]),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n@@\n-d\n", [("a\nb", "a\nc"), ("d", "")]),
        ("--- a/x\n+++ b/x\n", [("", "--- a/x\n+++ b/x\n")]),
    ],
)
def test_the_pieces_of_a_diff(diff, found):
    assert edit_hunks.parse_diff(diff) == found


def test_every_text_that_may_become_the_file():
    assert edit_hunks.list_full_texts({"content": "a", "file_text": "b", "text": "a"}) == ["a", "b"]
    assert edit_hunks.list_full_texts({"content": ["ä"]}) == ['["ä"]']
    assert edit_hunks.list_full_texts({}) == [""]
