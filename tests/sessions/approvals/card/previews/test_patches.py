"""Patches as a card shows them."""

from __future__ import annotations

from sessions.approvals.card.previews.patches import parse_patch_files
from tests.sessions.approvals.card.previews.builders import asked, changed, drawn, lines

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
