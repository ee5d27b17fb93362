"""Patches, deletions, moves, commands and unknown tools as a card draws them."""

from __future__ import annotations

import pytest

from sessions.approvals.card.previews.patches import parse_patch_files
from tests.sessions.approvals.preview_builders import asked, changed, drawn, lines

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
    new, moved, deleted = parse_patch_files(PATCH)
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
    moved, new = parse_patch_files(text)
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
    assert "1 file would be deleted" in here.sentence
    away = drawn(remote, asked("delete_directory", {"path": "src"}, target))
    assert "not on this server" in away.sentence
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


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Write", {"file_path": "src/a.txt", "content": "ok", "file_text": "other"}),
        ("Edit", {"file_path": "src/a.txt", "old_string": "two", "new_string": "2", "search": "one", "replace": ""}),
    ],
)  # fmt: skip
def test_of_several_texts_none_is_drawn_for_the_whole(disk, tool, given):
    preview = drawn(disk, asked(tool, given, "src/a.txt"))
    assert not preview.complete
    assert preview.sentence.startswith("The input holds several texts")
    assert all(text in preview.input for text in given.values())
    plain = {key: given[key] for key in list(given)[: -2 if tool == "Edit" else -1]}
    assert drawn(disk, asked(tool, plain, "src/a.txt")).complete


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


def test_a_patch_that_comes_as_a_command_is_drawn_as_the_patch(disk):
    patch = "*** Begin Patch\n*** Update File: src/a.txt\n@@\n-two\n+2\n*** End Patch"
    for given in (["apply_patch", patch], f"apply_patch <<'EOF'\n{patch}\nEOF"):
        preview = drawn(disk, asked("shell", {"command": given}, "src/a.txt", agent="codex"))
        assert (preview.complete, changed(preview.files[0])) == (True, ["-two", "+2"])
        elsewhere = drawn(disk, asked("shell", {"command": given}, "src/a.txt", agent="gemini-cli"))
        assert elsewhere.command is not None


def test_a_wildcard_is_drawn_as_what_it_matches(disk, remote):
    preview = drawn(disk, asked("Bash", {"command": "chmod +x src/*.txt"}))
    assert preview.complete
    assert [(row.target, row.in_scope) for row in preview.command.parts] == [("src/a.txt", "yes")]
    assert [piece.text for piece in preview.command.lines[0] if piece.mark] == ["src/*.txt"]
    assert not drawn(remote, asked("Bash", {"command": "chmod +x src/*.txt"})).complete


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
