"""The input of each kind of tool: what is wrong with it, and which names its wildcards stand for."""

from __future__ import annotations

import pytest

from controlplane.policy.calls.targets import find_targets
from controlplane.policy.model import Policy, ToolClass
from tests.policy.builders import call, judge, no_intent, said, snapshot


def found(the_call, **policy):
    return find_targets(the_call, Policy(**policy))


@pytest.mark.parametrize(
    "data",
    [
        call("Read", {"file_path": "docs/.."}),
        call("LS", {"path": "src/"}),
        call("Glob", {"path": "src/", "pattern": "*"}),
    ],
)
def test_a_folder_may_be_looked_at_by_a_name_that_no_file_could_be_written_under(data):
    assert said(judge(data, no_intent())) == ("allow", None, None)


NO_OBJECT = "The tool's input must be a JSON object."


NO_PATH = "The input names no path."


NO_PATTERN = "A pattern must be a string or a list of strings."


STEPS_BACK = "The pattern [{}] goes up (`..`) or to another root after a wildcard. Begin at a folder without wildcards."


NO_PATCH = "A patch must be a non-empty string."


NO_COMMAND = "The input holds no command."


EMPTY_COMMAND = "A command must be a non-empty string."


NO_NAME = "The tool's name must be a non-empty string."


NO_MOVE = "A move names a source and a destination."


@pytest.mark.parametrize(
    ("tool", "data", "why"),
    [
        ("Write", "src/a.ts", NO_OBJECT),
        ("Write", None, NO_PATH),
        ("Write", [], NO_OBJECT),
        ("Write", {}, NO_PATH),
        ("Write", {"file_path": None}, NO_PATH),
        ("Read", {"file_path": None}, "A path must be a non-empty string."),
        ("Read", "a", NO_OBJECT),
        ("Glob", {"pattern": 5}, NO_PATTERN),
        ("Glob", {"pattern": []}, NO_PATTERN),
        ("Glob", {"pattern": "*/../../x"}, STEPS_BACK.format("*/../../x")),
        ("Glob", {"pattern": "{/etc,src}/x"}, STEPS_BACK.format("{/etc,src}/x")),
        ("apply_diff", {"diff": "x"}, NO_PATH),
        ("apply_diff", {}, NO_PATH),
        ("apply_patch", {}, NO_PATCH),
        ("apply_patch", {"patch": " "}, NO_PATCH),
        ("apply_patch", {"patch": ["x"]}, NO_PATCH),
        ("delete_file", {}, NO_PATH),
        ("move_file", {"source": "a"}, NO_MOVE),
        ("move_file", {"destination": "a"}, NO_MOVE),
        ("create_directory", {}, NO_PATH),
        ("Bash", {}, NO_COMMAND),
        ("Bash", {"command": None}, NO_COMMAND),
        ("Bash", {"command": ""}, EMPTY_COMMAND),
        ("Bash", {"command": " \n"}, EMPTY_COMMAND),
        ("Bash", {"command": []}, EMPTY_COMMAND),
        ("Bash", {"command": ["ls", 5]}, EMPTY_COMMAND),
        (None, {}, NO_NAME),
        ("", {}, NO_NAME),
        ({"name": "Read"}, {}, NO_NAME),
        ("Frobnicate", "x", NO_OBJECT),
    ],
)
def test_input_that_makes_no_sense_is_refused(tool, data, why):
    assert found(call(tool, data) if data is not None else call(tool, None)).input_error == why
    decision = judge(call(tool, data), snapshot("**"))
    assert said(decision)[1:] == ("HOOK_BLOCKED", "invalid_input")
    assert decision.verdict.value == "deny"
    assert why in decision.error


AIMED = ".env\n*.pem\nsecrets/\n/config/*.yml\n"


@pytest.mark.parametrize(
    ("tool", "key", "pattern", "reason"),
    [
        ("Bash", "command", "cat .env*", "intentignore"),
        ("Bash", "command", "cat [.]env", "intentignore"),
        ("Bash", "command", "head src/*.pem", "intentignore"),
        ("Bash", "command", "cat src/*.pem > out/x", "intentignore"),
        ("Bash", "command", "cat /home/ada/shop/*.pem", "intentignore"),
        ("Bash", "command", "cat README.* a.*.b src/**/*.ts", None),
        ("Bash", "command", "cat ..?* *\\:x *.", None),
        ("Bash", "command", "cat config/*", "intentignore"),
        ("Bash", "command", "cat ../shop/*", "intentignore"),
        ("Bash", "command", "cat .e*", "intentignore"),
        ("Bash", "command", "cat s*/x", "intentignore"),
        ("PowerShell", "command", "gc .en?", "intentignore"),
        ("Grep", "glob", ".env", "intentignore"),
        ("Grep", "glob", "**/*.p?m", "intentignore"),
        ("Grep", "glob", "*.{ts,md}", None),
        ("Grep", "glob", "!.env", None),
        ("search_files", "file_pattern", "*.md,.env", "intentignore"),
        ("grep_search", "include", ["src/**", ".e*"], "intentignore"),
        ("PowerShell", "command", "gc '*.pem'", "intentignore"),
        ("read_many_files", "include", ["a", "**/*.pem"], "intentignore"),
        ("Glob", "pattern", "config/*.yml", "intentignore"),
        ("Glob", "pattern", "secrets/**", "intentignore"),
        ("Glob", "pattern", "**/*.{ts,md}", None),
        ("Glob", "pattern", "*", None),
    ],
)
def test_a_wildcard_that_is_aimed_at_something_ignored_is_refused_where_nobody_can_look(
    tool, key, pattern, reason
):
    decision = judge(call(tool, {key: pattern}), snapshot("out/**", intentignore=AIMED))
    assert said(decision)[2] == reason
    assert not any("*" in target.path for target in decision.reads)


def test_what_is_only_read_says_so_and_stands_below_its_folder():
    fetched = found(call("WebFetch", {"url": "file:///etc/passwd"}))
    searched = found(call("Glob", {"pattern": "src/*.ts"}, cwd="/home/ada/shop/web"))
    trusted = found(call("mcp__x__look", {"path": "a"}), tool_classes=(("mcp__x__look", ToolClass.SAFE),))
    assert [(named.raw, named.op) for named in fetched.reads] == [("file:///etc/passwd", "read")]
    assert [(named.raw, named.cwd) for named in searched.reads] == [("src", "/home/ada/shop/web")]
    assert [(named.raw, named.op) for named in trusted.reads] == [("a", "read")]


def test_patterns_for_many_folders_count_each_pair():
    refused = found(call("Glob", {"pattern": [f"*{n}" for n in range(2_000)], "path": "src"}))
    assert refused.unknown
