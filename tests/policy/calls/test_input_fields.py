"""The fields of a tool's input."""

from __future__ import annotations

from controlplane.policy.calls import input_fields


def test_whole_content_of_every_spelling():
    for key in input_fields.CONTENT_KEYS:
        assert input_fields.get_content({key: "x"}) == "x"
    assert input_fields.get_content({}) == ""
    assert input_fields.get_content({"content": ["ä"]}) == '["ä"]'
