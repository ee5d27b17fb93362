"""Lists in text areas: written and read back."""

from __future__ import annotations

import pytest

from intents.pages.text_area_lists import from_lines, to_lines

ITEMS = [
    "plain",
    "two\nlines",
    " blank ends ",
    '{"looks": "like JSON"}',
    {"type": "a", "n": 1},
    '"quoted"',
    "[x]",
    "über \u2028 x",
]


@pytest.mark.parametrize("item", ITEMS, ids=repr)
def test_an_item_goes_through_a_text_area_unchanged(item):
    assert from_lines(to_lines([item])) == [item]


def test_a_list_goes_through_a_text_area_unchanged():
    assert from_lines(to_lines(ITEMS)) == ITEMS
