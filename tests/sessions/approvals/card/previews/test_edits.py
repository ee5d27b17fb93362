"""What a card says an edit would change: shown in full, or honest about what is missing."""

from __future__ import annotations

import json

import pytest

from controlplane.shared.masking import MASK
from sessions.approvals.card.file_contents import CurrentFile
from sessions.approvals.card.previews import edits
from sessions.approvals.card.previews.edits import Replacement, apply_replacements, parse_replacements
from tests.sessions.approvals.card.previews.builders import FILE, asked, changed, drawn, lines


@pytest.mark.parametrize(
    ("tool", "agent", "given"),
    [
        ("Edit", "claude-code", {"file_path": "/srv/src/a.txt", "old_string": "two", "new_string": "2"}),
        ("replace", "gemini-cli", {"file_path": "/srv/src/a.txt", "old_string": "two", "new_string": "2"}),
        ("editor", "cline", {"path": "/srv/src/a.txt", "old_text": "two", "new_text": "2"}),
        ("edit", "opencode", {"filePath": "/srv/src/a.txt", "oldString": "two", "newString": "2"}),
        (
            "MultiEdit",
            "claude-code",
            {"file_path": "src/a.txt", "edits": [{"old_string": "two", "new_string": "2"}]},
        ),
        ("Write", "claude-code", {"file_path": "/srv/src/a.txt", "content": FILE.replace("two", "2")}),
        ("write_to_file", "roo", {"path": "src/a.txt", "content": FILE.replace("two", "2")}),
        (
            "apply_diff",
            "roo",
            {
                "path": "src/a.txt",
                "diff": "<<<<<<< SEARCH\n:start_line:2\n-------\ntwo\n=======\n2\n>>>>>>> REPLACE",
            },
        ),
        (
            "apply_patch",
            "codex",
            {"command": "*** Begin Patch\n*** Update File: src/a.txt\n@@\n one\n-two\n+2\n*** End Patch"},
        ),
        (
            "apply_patch",
            "",
            {"patch": "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"},
        ),
    ],
)
def test_an_edit_is_a_diff_whatever_the_agent_calls_it(disk, tool, agent, given):
    preview = drawn(disk, asked(tool, given, "src/a.txt", agent=agent))
    assert preview.complete, preview.sentence
    assert [file.path for file in preview.files] == ["src/a.txt"]
    assert changed(preview.files[0]) == ["-two", "+2"]
    assert (preview.added, preview.removed) == (1, 1)


def test_an_edit_is_numbered_as_in_the_file_as_it_is_now(disk):
    preview = drawn(disk, asked("Edit", {"old_string": "four", "new_string": "4"}, "src/a.txt"))
    (hunk,) = preview.files[0].hunks
    assert [(line.old, line.new) for line in hunk.lines if line.sign == "-"] == [(4, None)]


def test_an_edit_of_a_file_elsewhere_is_whole_and_says_what_is_not_shown(remote):
    preview = drawn(remote, asked("Edit", {"old_string": "two", "new_string": "2"}, "src/a.txt"))
    assert preview.complete
    assert "not on this server" in preview.sentence
    assert changed(preview.files[0]) == ["-two", "+2"]
    assert preview.files[0].hunks[0].lines[0].old is None


def test_a_whole_file_written_elsewhere_is_incomplete(remote):
    preview = drawn(remote, asked("Write", {"content": "new\n"}, "src/a.txt"))
    assert not preview.complete
    assert "Removed lines are not shown" in preview.sentence


def test_a_new_file_is_whole(disk):
    preview = drawn(disk, asked("Write", {"content": "new\n"}, "src/new.txt"))
    assert preview.complete
    assert preview.files[0].note == "new file"
    assert lines(preview.files[0]) == ["+new"]


@pytest.mark.parametrize("old", ["absent", "e"])
def test_a_text_that_is_not_there_or_not_once_is_incomplete(disk, old):
    preview = drawn(disk, asked("Edit", {"old_string": old, "new_string": "x"}, "src/a.txt"))
    assert not preview.complete
    assert changed(preview.files[0]) == [f"-{old}", "+x"]


def test_line_endings_alone_are_told(disk):
    preview = drawn(disk, asked("Write", {"content": FILE.replace("\n", "\r\n")}, "src/a.txt"))
    assert preview.sentence == edits.LINE_ENDINGS_ONLY


def test_pieces_are_applied_in_their_order():
    assert apply_replacements("a b", [Replacement("a", "b"), Replacement("b b", "c")]) == "c"
    assert apply_replacements("a a", [Replacement("a", "x", replace_all=True)]) == "x x"
    assert apply_replacements("a\na\n", [Replacement("a", "x", line=2)]) == "a\nx\n"
    assert apply_replacements("a\na\n", [Replacement("a", "x", line=9)]) is None
    assert apply_replacements("a\nb\n", [Replacement("", "x", line=1)]) == "a\nx\nb\n"
    assert apply_replacements("", [Replacement("", "x")]) == "x"
    assert apply_replacements("a", [Replacement("", "x")]) is None


@pytest.mark.parametrize("line", [True, -1, "3", None])
def test_odd_lines_are_no_lines(line):
    (piece,) = parse_replacements({"content": "x", "line": line})
    assert piece.line is None


def test_a_cut_call_is_incomplete_and_masked_secrets_are_told(disk):
    cut = "x … [cut: 9 more characters are not stored]"
    preview = drawn(disk, asked("Write", {"content": f"{MASK} {cut}"}, "src/new.txt"))
    assert not preview.complete
    assert "too long to store in full" in preview.sentence
    assert "masked" in preview.sentence


def test_a_cell_is_compared_with_what_it_holds_now(disk, tmp_path):
    notebook = {"cells": [{"id": "c1", "source": ["x = 1\n", "y = 2"]}]}
    (tmp_path / "nb.ipynb").write_text(json.dumps(notebook))
    given = {"notebook_path": "nb.ipynb", "cell_id": "c1", "new_source": "x = 3\ny = 2"}
    preview = drawn(disk, asked("NotebookEdit", given, "nb.ipynb"))
    assert preview.complete
    assert changed(preview.files[0]) == ["-x = 1", "+x = 3"]
    lost = drawn(disk, asked("NotebookEdit", given | {"cell_id": "c9"}, "nb.ipynb"))
    assert not lost.complete
    gone = drawn(disk, asked("NotebookEdit", given | {"edit_mode": "delete"}, "nb.ipynb"))
    assert changed(gone.files[0]) == ["-x = 1", "-y = 2"]


@pytest.mark.parametrize(
    "text", ["", "[", "[]", '{"cells": 3}', '{"cells": [3]}', '{"cells": [{"id": "c1"}]}', "[" * 9999]
)
def test_an_odd_notebook_is_unknown_never_an_error(text):
    preview = edits.preview_edit("nb.ipynb", {"new_source": "x", "cell_id": "c1"}, CurrentFile(text))
    assert preview is not None
    assert not preview.complete
