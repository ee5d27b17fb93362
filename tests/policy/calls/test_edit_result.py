"""What a constraint gets to see of a change: the file that comes out of it, where that can be known."""

from __future__ import annotations

import json

import pytest

from controlplane.policy.calls.edit_result import FileChange
from tests.policy.builders import (
    ReadableFilesystem,
    bash,
    call,
    intent,
    judge,
    said,
    snapshot,
    write,
)
from tests.workload import bounded

FORBIDDEN = {"type": "forbid_pattern", "pattern": r"eval\("}
EVIL = "eval(x)"


def refused(the_call, *rules, world=None):
    decision = judge(the_call, snapshot(intent=intent("**", constraints=rules)), world)
    return decision.reason if said(decision)[1] == "CONSTRAINT_VIOLATION" else None


def edit(old, new, **more):
    return call("Edit", {"file_path": "a", "old_string": old, "new_string": new, **more})


@pytest.mark.parametrize(
    "the_call",
    [
        edit("a", EVIL, search="eval(y)", replace=""),
        edit("a", EVIL, edits=[{"old_string": "eval(y)", "new_string": ""}]),
        call("MultiEdit", {"file_path": "a", "old_string": "eval(", "edits": [{"old_string": "a", "new_string": EVIL}]}),
        call("create", {"path": "a", "content": "ok", "file_text": EVIL}, agent="copilot"),
        call("edit_notebook_file", {"filePath": "a.ipynb", "newCode": EVIL}, agent="vscode"),
        call("str_replace_editor", {"command": "create", "path": "a", "file_text": EVIL}),
        call("run_commands", {"commands": ["echo a > a", "echo 'eval(' > a"]}, agent="cline"),
        call("apply_patch", {"patch": "*** Update File: a\n@@\n-a\n+b\n*** Update File: ./a\n@@\n-a\n+eval(x)\n"}),
        call("mcp__fs__edit_file", {"path": "a", "edits": [{"oldText": "a", "newText": EVIL}]}),
        write("a", "\ufeff" + EVIL),
        write("a", "\uff45val(x)"),
    ],
)  # fmt: skip
def test_no_second_key_or_spelling_hides_a_text(the_call):
    assert refused(the_call, FORBIDDEN) == "forbid_pattern"


def test_a_unified_diff_answers_for_its_new_lines_only():
    diff = {"path": "a", "diff": "--- a/a\n+++ b/a\n@@\n-eval(x)\n+y\n"}
    assert refused(call("apply_diff", diff), FORBIDDEN) is None
    assert refused(call("apply_diff", {**diff, "diff": "--- a/a\n+++ b/a\n@@\n-y\n+eval(x)\n"}), FORBIDDEN)


def test_what_takes_a_file_away_puts_no_text_into_it():
    assert refused(bash("grep 'eval(' a; rm b"), FORBIDDEN) is None
    assert refused(bash("echo 'eval(' > a; rm b"), FORBIDDEN) == "forbid_pattern"


def test_pieces_that_match_only_together_are_seen_in_the_file():
    world = ReadableFilesystem.from_texts({"a": 'x = ""\r\nev(y)\r\n'})
    secret = {"type": "forbid_pattern", "pattern": r'x = "\w+"'}
    assert refused(edit('""', '"abc"'), secret, world=world) == "forbid_pattern"
    assert refused(edit('""', '"abc"'), secret) is None  # nobody knows what stands around it
    two = [{"old_string": "ev", "new_string": "eva"}, {"old_string": "eva", "new_string": "eval"}]
    assert refused(call("MultiEdit", {"file_path": "a", "edits": two}), FORBIDDEN, world=world)
    hunks = "*** Begin Patch\n*** Update File: a\n@@\n-ev(y)\n+eval\n@@\n eval\n+(z)\n\n*** End Patch"
    apart = {"type": "forbid_pattern", "pattern": r"eval\s*\("}
    assert refused(call("apply_patch", {"patch": hunks}), apart, world=world) == "forbid_pattern"
    twice = "*** Update File: a\n@@\n-ev(y)\n+eva(y)\n*** Update File: ./a\n@@\n-eva(y)\n+eval(y)\n"
    assert refused(call("apply_patch", {"patch": twice}), apart, world=world) == "forbid_pattern"


def test_the_cells_of_a_notebook_are_read_as_its_reader_does():
    quoted = {"type": "forbid_pattern", "pattern": r'eval\("'}
    for source in ('eval("x")', ["ev", 'al("x")\n']):
        text = json.dumps({"cells": [{"source": "a"}, {"source": source}]})
        assert refused(write("A.IPYNB", text), quoted) == "forbid_pattern"
        assert refused(write("a.txt", text), quoted) is None
    for text in ("", "[]", '{"cells": [5]}', '{"cells": [{"source": [5]}]}', "[" * 100_000):
        assert refused(write("a.ipynb", text), quoted) is None
    world = ReadableFilesystem.from_texts({"a.ipynb": json.dumps({"cells": [{"source": 'eval("x")'}]})})
    notebook = {"file_path": "a.ipynb", "old_string": '"source"', "new_string": '"source" '}
    assert refused(call("Edit", notebook), quoted, world=world) is None


def test_what_is_moved_about_in_a_file_is_not_new():
    world = ReadableFilesystem.from_texts({"a": "eval(x)\nb\n"})
    edits = [{"old_string": "eval(x)\n", "new_string": ""}, {"old_string": "b", "new_string": "b\neval(x)"}]
    assert refused(call("MultiEdit", {"file_path": "a", "edits": edits}), FORBIDDEN, world=world) is None


def test_lines_end_as_they_may():
    rule = {"type": "forbid_pattern", "pattern": "a\nb"}
    assert refused(write("x", "a\r\nb"), rule) == "forbid_pattern"
    assert refused(write("x", "a\rb"), rule) == "forbid_pattern"
    assert refused(write("x", "a\r\nb"), {"type": "forbid_pattern", "pattern": "\r"}) == "forbid_pattern"
    assert refused(edit("a\r", "b\r"), {"type": "forbid_pattern", "pattern": "\r"}) is None


@pytest.mark.parametrize(
    "pieces",
    [(), (("", "x"),), (("gone", "x"),), (("a", "x" * 9_000_000),), (("a", "b"),) * 40],
)
def test_what_cannot_be_worked_out_is_not_guessed(pieces):
    world = ReadableFilesystem.from_texts({"f": "a" * 2_000_000})
    with bounded(200):
        assert (
            FileChange("f", "write", "", "x", is_full_text=False, replacements=pieces).find_full_texts(world)
            is None
        )


def test_a_text_that_nobody_knows_has_no_change():
    assert FileChange("f", "write", "", "x", is_full_text=True).find_full_texts(ReadableFilesystem()) is None
    assert (
        FileChange("f", "write", "", None, is_full_text=True).find_full_texts(
            ReadableFilesystem.from_texts({"f": ""})
        )
        is None
    )
    assert FileChange("f", "write", "", "x\r\n", is_full_text=True).find_full_texts(
        ReadableFilesystem.from_texts({"f": "\ufeffa"})
    ) == ("a", "x\n")


def test_the_lines_of_a_file_are_counted_as_they_come_out():
    world = ReadableFilesystem.from_texts({"a": "1\n2\n3\n"})
    rule = {"type": "max_file_lines", "max_lines": 3}
    assert refused(edit("2", "2\n2"), rule, world=world) == "max_file_lines"
    assert refused(edit("2\n", ""), rule, world=world) is None
    assert refused(edit("", "x"), rule, world=world) == "max_file_lines"
    assert refused(edit("missing", "x\ny"), rule, world=world) == "max_file_lines"


def test_a_folder_that_goes_counts_with_all_that_is_in_it():
    world = ReadableFilesystem.from_texts({"d/1": "", "d/2": "", "e": ""})
    rule = {"type": "max_files_changed", "max_files": 1}
    assert refused(bash("rm -r d"), rule, world=world) == "max_files_changed"
    assert refused(bash("rm e"), rule, world=world) is None


def test_a_folder_of_the_name_is_no_change_of_the_file_that_is_needed():
    rule = {"type": "require_file", "file": "docs/a", "scope": "src/**"}
    assert refused(bash("mkdir -p docs/a && touch src/x"), rule) == "require_file"
    assert refused(bash("mkdir -p src/a"), rule) is None
    assert refused(bash("chmod +x src/x"), rule) == "require_file"
    assert refused(bash("chmod +x docs/a && touch src/x"), rule) == "require_file"
    assert refused(bash("touch docs/a src/x"), rule) is None


# --- folders that hold something ignored ----------------------------------------------------------


def test_what_two_readings_make_together_counts():
    both = {"file_path": "a", "old_string": "1", "new_string": "ev", "search": "2", "replace": "al("}
    rule = {"type": "forbid_pattern", "pattern": r"eval\("}
    assert (
        refused(call("Edit", both), rule, world=ReadableFilesystem.from_texts({"a": "12"}))
        == "forbid_pattern"
    )
    assert refused(call("Edit", both), rule, world=ReadableFilesystem.from_texts({"a": "1 2"})) is None


def test_an_edit_that_finds_nothing_counts_by_its_own_lines():
    rule = {"type": "max_file_lines", "max_lines": 4}
    shorter = edit("no\nsuch\nlines", "one")
    assert refused(shorter, rule, world=ReadableFilesystem.from_texts({"a": "1\n2\n3\n4\n5\n"})) is None
    assert (
        refused(edit("no", "1\n2"), rule, world=ReadableFilesystem.from_texts({"a": "1\n2\n3\n4\n"}))
        == "max_file_lines"
    )
    assert (
        refused(write("a", "one"), rule, world=ReadableFilesystem.from_texts({"a": "1\n2\n3\n4\n5\n"}))
        is None
    )
