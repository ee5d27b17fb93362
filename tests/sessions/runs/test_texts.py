"""A diff counts only where it leads from the hash before to the hash after."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.runs.texts import check_texts, hash_text, revert_diff
from tests.sessions.runs.builders import diff


def change(before: str | None, after: str | None, text: str, **fields):
    hashes = {"before": None if before is None else hash_text(before)}
    hashes["after"] = None if after is None else hash_text(after)
    return {"path": "x", "change": "modified", "diff": text, "content": after, **hashes, **fields}


TEXTS = st.text(st.sampled_from("ab\n \\@-+"), max_size=40)


@given(TEXTS, TEXTS)
def test_every_diff_leads_back(before, after):
    assert revert_diff(after, diff(before, after)) == before


@given(TEXTS, TEXTS, TEXTS)
def test_a_diff_of_another_text_proves_nothing(before, after, other):
    checked = check_texts(change(before, after, diff(other, after)))
    assert (checked is not None) == (before == other)


def test_the_lines_are_counted():
    checked = check_texts(change("a\nb\nc", "a\nx\ny\nc", diff("a\nb\nc", "a\nx\ny\nc")))
    assert (checked.added, checked.removed, checked.before) == (2, 1, "a\nb\nc")


def test_a_new_file_and_one_that_is_gone():
    assert check_texts(change(None, "a\n", diff("", "a\n"), change="created")).added == 1
    assert check_texts(change("a\n", None, diff("a\n", ""), change="deleted")).removed == 1


@pytest.mark.parametrize(
    "text",
    ["", "nonsense", "--- a/x\n+++ b/x\n@@ -1 +9 @@\n-a\n+b\n", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+c\n"],
)
def test_no_diff_of_this_text(text):
    assert check_texts(change("a\n", "b\n", text)) is None


def test_text_without_its_diff_proves_nothing():
    assert check_texts(change("a\n", "b\n", diff("a\n", "b\n")) | {"diff": None}) is None
