"""What a card says would happen: drawn whole, or honest about what is missing."""

from __future__ import annotations

import json
import os

import pytest
from django.utils import timezone

from controlplane.masking import MASK
from controlplane.models import Workspace
from intents.models import Intent
from sessions.file_texts import FileText, FileTexts
from sessions.models import AgentSession, Approval
from sessions.previews import edits, preview_of
from sessions.previews.edits import Piece, applied, pieces_of
from sessions.previews.hunks import hunks_between
from sessions.previews.patches import files_of_patch

FILE = "one\ntwo\nthree\nfour\nfive\n"


@pytest.fixture
def disk(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.txt").write_text(FILE)
    return Workspace(pk=1, slug="acme", local_root=str(tmp_path))


@pytest.fixture
def remote():
    return Workspace(pk=1, slug="acme")


@pytest.fixture(autouse=True)
def _no_ledger(monkeypatch):
    """Files without a local root are looked up in the ledger by the gate, never by a preview."""
    monkeypatch.setattr("sessions.worktree.newest_hashes", lambda workspace_id, paths: {})


def asked(tool, given, *targets, op="write", agent="claude-code", **call) -> Approval:
    """An approval that was never stored, for a call on these targets."""
    shown = [
        target if isinstance(target, dict) else {"path": target, "op": op, "recursive": False}
        for target in targets
    ]
    session = AgentSession(session_id="s-1", agent_name=agent, last_seen_at=timezone.now())
    facts = {"input": given, "cwd": None, "root": "/srv", "targets": shown, "offending": [], "unknown": []}
    return Approval(session=session, tool=tool, call=facts | call)


def drawn(workspace, approval, scope=("src/**",)):
    return preview_of(approval, workspace, Intent(intent_id="INT-001", owned_scope=list(scope)))


def lines(file):
    """Signs with texts, hunk after hunk."""
    return [
        line.sign + "".join(part.text for part in line.parts) for hunk in file.hunks for line in hunk.lines
    ]


def changed(file):
    return [line for line in lines(file) if line[0] != " "]


# --- edits ------------------------------------------------------------------------------------------


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
    assert "not on this machine" in preview.sentence
    assert changed(preview.files[0]) == ["-two", "+2"]
    assert preview.files[0].hunks[0].lines[0].old is None


def test_a_whole_file_written_elsewhere_is_incomplete(remote):
    preview = drawn(remote, asked("Write", {"content": "new\n"}, "src/a.txt"))
    assert not preview.complete
    assert "What it would lose is not shown" in preview.sentence


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
    assert preview.sentence == edits.SAME_LINES


def test_pieces_are_applied_in_their_order():
    assert applied("a b", [Piece("a", "b"), Piece("b b", "c")]) == "c"
    assert applied("a a", [Piece("a", "x", everywhere=True)]) == "x x"
    assert applied("a\na\n", [Piece("a", "x", line=2)]) == "a\nx\n"
    assert applied("a\na\n", [Piece("a", "x", line=9)]) is None
    assert applied("a\nb\n", [Piece("", "x", line=1)]) == "a\nx\nb\n"
    assert applied("", [Piece("", "x")]) == "x"
    assert applied("a", [Piece("", "x")]) is None


@pytest.mark.parametrize("line", [True, -1, "3", None])
def test_odd_lines_are_no_lines(line):
    (piece,) = pieces_of({"content": "x", "line": line})
    assert piece.line is None


def test_a_cut_call_is_incomplete_and_masked_secrets_are_told(disk):
    cut = "x … [cut: 9 more characters are not stored]"
    preview = drawn(disk, asked("Write", {"content": f"{MASK} {cut}"}, "src/new.txt"))
    assert not preview.complete
    assert "longer than what is stored" in preview.sentence
    assert "masked" in preview.sentence


# --- notebooks --------------------------------------------------------------------------------------


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
    preview = edits.edit("nb.ipynb", {"new_source": "x", "cell_id": "c1"}, FileText(text))
    assert preview is not None
    assert not preview.complete


# --- patches ----------------------------------------------------------------------------------------

PATCH = """*** Begin Patch
*** Add File: src/new.txt
+hi
*** Update File: src/a.txt
*** Move to: src/b.txt
@@ where
 one
-two
+2
*** Delete File: src/old.txt
*** End Patch"""


def test_a_begin_patch_document_is_drawn_file_by_file():
    new, moved, deleted = files_of_patch(PATCH)
    assert (new.path, new.note, lines(new)) == ("src/new.txt", "new file", ["+hi"])
    assert (moved.note, changed(moved), moved.hunks[0].header) == (
        "moved to src/b.txt",
        ["-two", "+2"],
        "@@ where",
    )
    assert (deleted.path, deleted.note, deleted.hunks) == ("src/old.txt", "deleted", ())


def test_a_git_diff_is_drawn_with_its_own_numbers():
    text = (
        "diff --git a/x.txt b/y.txt\nsimilarity index 90%\nrename from x.txt\nrename to y.txt\nindex 1..2 100644\n"
        "--- a/x.txt\n+++ b/y.txt\n@@ -10,2 +10,3 @@ def f\n ten\n--- minus\n+++ plus\n+more\n"
        "diff --git a/z b/z\nnew file mode 100644\n--- /dev/null\n+++ b/z\n@@ -0,0 +1 @@\n+z\n"
    )
    moved, new = files_of_patch(text)
    assert (moved.path, moved.note) == ("y.txt", "moved to y.txt")
    assert changed(moved) == ["--- minus", "+++ plus", "+more"]
    assert moved.hunks[0].lines[0].old == 10
    assert (new.path, new.note, lines(new)) == ("z", "new file", ["+z"])


def test_a_deletion_by_patch_shows_what_is_lost(disk):
    patch = "*** Begin Patch\n*** Delete File: src/a.txt\n*** End Patch"
    preview = drawn(disk, asked("apply_patch", {"command": patch}, "src/a.txt", agent="codex"))
    assert preview.complete
    assert preview.removed == 5


def test_a_file_that_the_patch_touches_and_nobody_can_draw_is_named(disk):
    patch = "*** Begin Patch\n*** Update File: src/a.txt\n@@\n-two\n+2\n*** End Patch"
    preview = drawn(
        disk, asked("apply_patch", {"command": patch}, "src/a.txt", "src/hidden.txt", agent="codex")
    )
    assert not preview.complete
    assert "src/hidden.txt" in preview.sentence
    assert preview.input == patch


# --- other calls ------------------------------------------------------------------------------------


def test_a_deletion_shows_what_is_lost_or_says_that_it_cannot(disk, remote):
    here = drawn(disk, asked("delete_file", {"path": "src/a.txt"}, "src/a.txt", op="delete"))
    assert (here.complete, here.removed) == (True, 5)
    away = drawn(remote, asked("delete_file", {"path": "src/a.txt"}, "src/a.txt", op="delete"))
    assert not away.complete


def test_a_folder_that_is_deleted_lists_its_files(disk, remote):
    target = {"path": "src", "op": "delete", "recursive": True}
    here = drawn(disk, asked("delete_directory", {"path": "src"}, target))
    assert [file.path for file in here.files] == ["src/a.txt"]
    assert "1 file would be lost" in here.sentence
    away = drawn(remote, asked("delete_directory", {"path": "src"}, target))
    assert "not on this machine" in away.sentence
    assert not here.complete
    assert not away.complete


def test_a_move_says_where_to_and_what_it_would_overwrite(disk):
    source = {"path": "src/a.txt", "op": "move", "recursive": False}
    moved = drawn(disk, asked("move_file", {"source": "src/a.txt", "destination": "b"}, source, "src/b.txt"))
    assert (moved.complete, moved.files[0].note) == (True, "moved to src/b.txt")
    over = drawn(disk, asked("move_file", {"source": "x", "destination": "b"}, source, "src/a.txt"))
    assert not over.complete
    assert "overwritten" in over.sentence


def test_a_new_folder_is_no_riddle(disk):
    assert drawn(disk, asked("create_directory", {"path": "lib"}, "lib", op="folder")).complete


def test_a_tool_that_nobody_knows_is_shown_as_it_came(disk):
    unknown = [{"text": "mcp__x__y", "why": "the gate does not know all that this tool changes"}]
    preview = drawn(disk, asked("mcp__x__y", {"q": "SELECT 1"}, unknown=unknown))
    assert not preview.complete
    assert "SELECT 1" in preview.input


@pytest.mark.parametrize(
    "given", [None, [], "text", 3, {}, {"command": 3}, {"edits": 3}, {"diff": "junk"}, {"content": None}]
)
@pytest.mark.parametrize("tool", ["Write", "Edit", "apply_patch", "Bash", "delete_file", "delete_directory", "move_file",
                                  "create_directory", "NotebookEdit", "mcp__a__b"])  # fmt: skip
def test_no_input_is_too_odd_to_be_shown(disk, tool, given):
    for targets in ((), ("src/a.txt",), ("a", "b")):
        preview = drawn(disk, asked(tool, given, *targets))
        assert preview.sentence


# --- commands ---------------------------------------------------------------------------------------


def test_a_command_marks_its_targets_and_tells_each_part(disk):
    command = 'rm -rf dist && echo hi > src/gen.ts && cp -r src "$OUT_DIR" && git status --short'
    preview = drawn(disk, asked("Bash", {"command": command}))
    view = preview.command
    assert view is not None
    marked = [
        (piece.mark, piece.text)
        for line in view.lines
        for piece in line
        if piece.mark not in {"", "operator"}
    ]
    assert marked == [("deletes", "dist"), ("writes", "src/gen.ts"), ("unknown", '"$OUT_DIR"')]
    assert "".join(piece.text for piece in view.lines[1]) == "&& echo hi > src/gen.ts"
    assert [(row.number, row.target, row.in_scope, row.pattern) for row in view.parts] == [
        (1, "dist", "no", ""),
        (2, "src/gen.ts", "yes", "src/**"),
        (3, '"$OUT_DIR"', "unknown", ""),
        (4, "", "", ""),
    ]
    assert preview.note == "4 parts, run in / of the workspace"
    assert not preview.complete
    assert view.deletes


def test_nothing_of_a_command_is_left_out(disk):
    command = "for f in a b; do\n  rm $f > log 2>&1; done; (cd src && tee x) | sort"
    view = drawn(disk, asked("Bash", {"command": command})).command
    assert view is not None
    shown = "".join(piece.text for line in view.lines for piece in line)
    assert "".join(shown.split()) == "".join(command.split())


def test_a_known_command_is_whole_and_runs_where_it_is_told(disk):
    preview = drawn(disk, asked("Bash", {"command": "touch x.txt", "cwd": "src"}))
    assert preview.complete
    assert preview.command is not None
    assert preview.command.parts[0].target == "src/x.txt"
    assert "run in src of the workspace" in preview.note
    outside = drawn(disk, asked("Bash", {"command": "rm ../../x"}))
    assert outside.command is not None
    assert outside.command.parts[0].in_scope == "no"


def test_what_the_gate_could_not_know_is_told_even_where_the_text_looks_clear(disk):
    unknown = [{"text": "x", "why": "the command was longer then"}]
    preview = drawn(disk, asked("Bash", {"command": "touch x"}, unknown=unknown))
    assert not preview.complete
    assert "The command was longer then." in preview.sentence


# --- files and time ---------------------------------------------------------------------------------


def test_files_are_read_inside_the_root_only(disk, tmp_path):
    secret = tmp_path.parent / "secret.txt"
    secret.write_text("secret")
    (tmp_path / "link").symlink_to(secret)
    (tmp_path / "folder").symlink_to(tmp_path.parent)
    (tmp_path / "inner").symlink_to("src")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "large").write_bytes(b"x" * (1024 * 1024 + 1))
    files = FileTexts(disk)
    for path in (
        "link",
        "folder/secret.txt",
        "../secret.txt",
        "fifo",
        "binary",
        "large",
        "src",
        "",
        "src/a.txt/x\0",
    ):
        assert files.read(path).text in {None, ""}, path
        assert files.read(path).why or files.read(path).gone, path
    assert files.read("inner/a.txt").text == FILE
    assert files.read("src/none").gone


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\n" * 100_000, "\n" * 99_000 + "x"),
        ("." * 100_000, "," + "." * 100_000),
        ("ab\n" * 20_000, "ba\nab\n" * 10_000),
        ("x." * 900 + "\n" + "y\n" * 500, "y." * 900 + "\n" + "z\n" * 500),
    ],
)
def test_hostile_texts_are_compared_in_bounded_time(before, after):
    began = timezone.now()
    hunks = hunks_between(before, after)
    assert (timezone.now() - began).total_seconds() < 5
    old = [line for hunk in hunks for line in hunk.lines if line.sign == "-"]
    new = [line for hunk in hunks for line in hunk.lines if line.sign == "+"]
    assert old or new


def test_beyond_the_budget_the_middle_is_shown_as_a_whole():
    before = "same\n" * 5 + "a\n" * 600 + "end\n" * 5
    after = "same\n" * 5 + "b\n" + "a\n" * 598 + "c\n" + "end\n" * 5
    (hunk,) = hunks_between(before, after, old=11, new=21)
    assert hunk.header.startswith("@@ -13,")
    assert [line.sign for line in hunk.lines[:4]] == [" ", " ", " ", "-"]
    assert [(line.old, line.new) for line in hunk.lines[-3:]] == [(616, 626), (617, 627), (618, 628)]
    assert sum(line.sign == "+" for line in hunk.lines) == 600
