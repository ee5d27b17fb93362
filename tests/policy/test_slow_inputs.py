"""Inputs under 1 MB that are made to keep the gate busy, and texts that no encoder takes."""

from __future__ import annotations

import json

import pytest

from controlplane.policy.rules import dependencies, dependency_files
from controlplane.policy.rules.constraints import CONSTRAINT_TYPES
from tests.policy.builders import ReadableFilesystem, call, intent, judge, said, snapshot, write
from tests.workload import bounded

LINES = "abc\n" * 200_000
NUMBERED = [f"a{number}" for number in range(1_900)]
EDITS = [{"old_string": "a", "new_string": "a"}] * 10_000
RULES = [
    {"type": "forbid_pattern", "pattern": "[^a-z\n]"},
    {"type": "max_file_lines", "max_lines": 500},
    {"type": "no_new_dependency"},
    {"type": "library_version", "library": "x", "min_version": "5.2"},
]
KEYS_IN_A_DEEP_TABLE = f"[{'.'.join('a' * 1_000)}]\n" + "".join(f"b{n}=1\n" for n in range(50_000))
WORLD = ReadableFilesystem.from_texts(
    {"a": "ab" * 1_000, "pyproject.toml": "", "requirements.txt": "", "e": "é" * 50_000}
)
CHAIN = {f"l{n}": f"l{n + 1}" for n in range(39)} | {"/".join("z" * 1_900): "q"}
DEEP = "/".join("a" * 1_900)


@pytest.mark.deep
@pytest.mark.parametrize(
    "the_call",
    [
        write("a", LINES, paths=NUMBERED),
        write("a", LINES.replace("\n", "\r\n")[:900_000], paths=NUMBERED),
        write("a.ipynb", json.dumps({"cells": [{"source": LINES}]}), paths=[f"{n}.ipynb" for n in NUMBERED]),
        write("a", "a" + "\u0301\u0316" * 80_000),
        write("a", "a" + "\u0301\uff9e" * 80_000),
        call("Edit", {"file_path": "e", "old_string": "é", "new_string": "éé"}),
        call("MultiEdit", {"file_path": "a", "paths": ["./" * n + "a" for n in range(40)] * 20, "edits": EDITS}),
        write("pyproject.toml", KEYS_IN_A_DEEP_TABLE),
        write("requirements.txt", "".join(f"{name}==1\n" for name in NUMBERED * 20)),
        write("a/requirements.txt", LINES[:200_000], paths=[f"{n}/requirements.txt" for n in NUMBERED]),
        call("Glob", {"patterns": [f"**/{n}*" for n in NUMBERED], "files": ["b"] * 1_000}),
        call("Write", {"paths": [f"l0/{DEEP}/{n}" for n in range(200)], "content": ""}, links=CHAIN),
    ],
)  # fmt: skip
def test_no_input_keeps_the_gate_busy(the_call):
    with bounded(200):  # under 40 on a quiet machine; unbounded, most take 200 to 6,000
        decision = judge(the_call, snapshot(intent=intent("**", constraints=RULES)), WORLD)
    assert said(decision)[2] != "internal_error"


HALF = "\ud800"


@pytest.mark.parametrize(
    ("the_call", "reason"),
    [
        (write("a.ipynb", json.dumps({"cells": [{"source": HALF + "1"}]})), "forbid_pattern"),
        (write("a", HALF + "1"), "forbid_pattern"),
        (write("a", HALF + "é"), "forbid_pattern"),
        (write("requirements.txt", HALF + "\nlib"), "forbid_pattern"),
        (write("requirements.txt", "x==" + "1" * 5_000), "forbid_pattern"),
    ],
)
def test_half_characters_and_endless_numbers_are_judged(the_call, reason):
    assert said(judge(the_call, snapshot(intent=intent("**", constraints=RULES)), WORLD))[2] == reason


def test_half_a_character_in_carried_arguments_is_told():
    carried = {
        "server_name": "fs",
        "tool_name": "write_file",
        "arguments": '{"path": "a", "content": "\\ud800"}',
    }
    decision = judge(call("use_mcp_tool", carried, agent="roo"), snapshot("**"))
    assert said(decision)[1:] == ("HOOK_BLOCKED", "invalid_input")


def test_names_of_libraries_are_shown_without_hidden_characters_and_not_all():
    text = json.dumps({"dependencies": {"\u202ea": "1"} | {f"b{n}": "1" for n in range(50)}})
    rules = [{"type": "no_new_dependency"}]
    world = ReadableFilesystem.from_texts({"package.json": "{}"})
    error = judge(write("package.json", text), snapshot(intent=intent("**", constraints=rules)), world).error
    assert (
        "\\u202e"
        in judge(
            write("package.json", '{"dependencies": {"\\u202ea": "1"}}'),
            snapshot(intent=intent("**", constraints=rules)),
            world,
        ).error
    )
    assert "b0, " in error
    assert ", …, and" in error
    assert "b9" not in error


def test_versions_are_compared_as_numbers():
    rule = {"type": "library_version", "library": "x", "min_version": "5.10"}
    assert not list(CONSTRAINT_TYPES["library_version"].list_problems(rule))
    for version, wrong in [
        ("5.9", True),
        ("5.10.0", False),
        ("05.010", False),
        ("6", False),
        ("5.010.1", False),
    ]:
        assert dependencies.has_wrong_version(rule, "requirements.txt", f"x=={version}") is wrong


def test_a_deep_table_is_read_line_by_line_and_an_array_hides_none():
    assert dependency_files.parse_libraries("cargo.toml", KEYS_IN_A_DEEP_TABLE) is None
    hidden = KEYS_IN_A_DEEP_TABLE.replace("]\n", "]\nc = [\n[1],\n]\n", 1)
    assert dependency_files.parse_libraries("cargo.toml", hidden) is None
    assert dependency_files.parse_libraries("cargo.toml", "[dependencies]\na = '1'\n") == [("a", "1")]


def test_a_text_that_had_the_pattern_may_keep_it_but_not_hold_more():
    rules = [{"type": "forbid_pattern", "pattern": "é"}]
    there = snapshot(intent=intent("**", constraints=rules))
    for new, verdict in (("x", "allow"), ("é", "allow"), ("éé", "deny"), ("aé", "allow")):
        edit = call("Edit", {"file_path": "f", "old_string": "é", "new_string": new})
        assert said(judge(edit, there, ReadableFilesystem.from_texts({"f": "aé"})))[0] == verdict
