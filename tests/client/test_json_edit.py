"""Changing one place of a JSON text, and nothing else of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from controlplane.client.config.json_edit import read_json, remove_values, set_value

SETTINGS = """\
{
    // What everybody here likes
    "theme": "dark", /* not light */
    "servers": {
        "mine": {"command": "x"} // mine, not yours
    },
    "list": [
        1, // the first
        2
    ],
}
"""
VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text(max_size=5),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
INDENTS = some.sampled_from([None, 0, 1, 2, 4, "\t"])


def is_ours(before: object, after: object) -> bool:
    return before == "ours" or (not after and before != after)


def lines_added(before: str, after: str) -> list[str]:
    kept = before.splitlines()
    return [line for line in after.splitlines() if line not in kept]


PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # the machine may be busy


class TestReading:
    def test_comments_and_trailing_commas_are_no_values(self):
        read = {"theme": "dark", "servers": {"mine": {"command": "x"}}, "list": [1, 2]}
        assert read_json(SETTINGS).value == read

    @PATIENT
    @given(VALUES, INDENTS)
    def test_json_is_read_as_json(self, value, indent):
        assert read_json(f" {json.dumps(value, indent=indent)}\n").value == value

    @pytest.mark.parametrize(
        "text",
        [
            "", "{", "[", "{,}", "[,]", "[1 2]", '{"a" 1}', '{"a": }', "{1: 2}", '{"a": 1} x', "{} {}", "// only",
            "[1,,2]", "/* open", "['a']", '{"a": 1 "b": 2}', "[" * 100_000,
        ],
    )  # fmt: skip
    def test_what_is_no_json_is_refused(self, text):
        with pytest.raises(ValueError, match=r"."):
            read_json(text)


class TestPuttingIn:
    def test_it_comes_last_in_the_layout_of_the_file(self):
        new = set_value(SETTINGS, ["servers", "ours"], {"command": "y"})
        assert lines_added(SETTINGS, new) == [
            '        "mine": {"command": "x"}, // mine, not yours',
            '        "ours": {',
            '            "command": "y"',
            "        }",
        ]

    def test_what_is_missing_on_the_way_is_made(self):
        assert json.loads(set_value("", ["a", "b"], 1)) == {"a": {"b": 1}}
        assert json.loads(set_value('{"a": {}}', ["a", "b", "c"], 1, members=True)) == {
            "a": {"b": {"c": [1]}}
        }

    def test_a_list_gets_one_more(self):
        assert read_json(set_value(SETTINGS, ["list"], 3, members=True)).value["list"] == [1, 2, 3]

    @pytest.mark.parametrize("path", [["theme"], ["theme", "x"], ["servers", "mine"], ["list", "x"]])
    def test_what_stands_there_is_not_replaced(self, path):
        with pytest.raises(ValueError, match="something else"):
            set_value(SETTINGS, path, 1)

    def test_line_ends_are_those_of_the_file(self):
        new = set_value('{\r\n  "a": 1\r\n}\r\n', ["b"], {"c": 2})
        assert new.count("\n") == new.count("\r\n") == 6

    @pytest.mark.parametrize("text", ["{}", "{ }", "{\n}", "{ // why\n}", "{/* why */}", '{"a": 1 }'])
    def test_what_holds_nothing_yet_keeps_its_comment(self, text):
        new = set_value(text, ["b"], 2)
        assert read_json(new).value["b"] == 2
        assert ("why" in new) == ("why" in text)


class TestTakingOut:
    @pytest.mark.parametrize(
        ("text", "left"),
        [
            ('{"a": "ours"}', "{}"),
            ('{"a": "ours", "b": 1}', '{"b": 1}'),
            ('{"b": 1, "a": "ours"}', '{"b": 1}'),
            ('{"b": 1, "a": "ours", "c": 2}', '{"b": 1, "c": 2}'),
            ('["ours", 1, "ours", 2, "ours"]', "[1, 2]"),
            ('{"a": {"b": ["ours"]}, "c": []}', '{"c": []}'),
        ],
    )
    def test_commas_fit_what_is_left(self, text, left):
        assert json.loads(remove_values(text, is_ours)) == json.loads(left)

    @pytest.mark.parametrize(
        "text", ['[ // one\n"ours", 1]', '[1, // one\n"ours", 2]', '[1, // one\n"ours"]']
    )
    def test_no_comment_swallows_what_comes_after_it(self, text):
        left = remove_values(text, is_ours)
        assert "// one" in left
        assert read_json(left).value == [one for one in read_json(text).value if one != "ours"]

    @PATIENT
    @given(some.dictionaries(some.text(max_size=5), VALUES, max_size=4), INDENTS)
    def test_what_was_put_in_is_taken_out_to_the_byte(self, value, indent):
        value.pop("icp", None)
        text = json.dumps(value, indent=indent)
        new = set_value(text, ["icp", "x"], "ours", members=True)
        assert json.loads(new) == value | {"icp": {"x": ["ours"]}}
        without = remove_values(
            new, lambda before, after: before == ["ours"] or (not after and before != after)
        )
        assert json.loads(without) == value
        assert not value or without == text

    def test_comments_stay_to_the_byte(self):
        for path in (["ours"], ["servers", "ours"], ["new", "ours"]):
            new = set_value(SETTINGS, path, "ours")
            assert remove_values(new, is_ours) == SETTINGS
        assert remove_values(set_value(SETTINGS, ["list"], "ours", members=True), is_ours) == SETTINGS
