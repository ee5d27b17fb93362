from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.policy.calls import patch_formats


def read(text):
    return [(file.path, file.op) for file in patch_formats.parse(text).files]


def why(text):
    return patch_formats.parse(text).unreadable_reason


PATCH = """*** Begin Patch
*** Update File: src/hooks/V.ts
*** Move to: packages/types/src/V.ts
@@
-old
+new
*** Add File: notes/new file.md
+one
+two
*** Delete File: old.ts
*** End Patch
"""

UNIFIED = """diff --git a/src/a.ts b/src/a.ts
index 1..2 100644
--- a/src/a.ts\t2026-01-01
+++ b/src/a.ts\t2026-01-02
@@ -1 +1 @@
-one
+two
diff --git a/gone.ts b/gone.ts
deleted file mode 100644
--- a/gone.ts
+++ /dev/null
diff --git a/made.ts b/made.ts
new file mode 100644
--- /dev/null
+++ b/made.ts
@@ -0,0 +1 @@
+hello
"""


def test_a_begin_patch_document_names_every_file_and_both_ends_of_a_move():
    assert read(PATCH) == [
        ("src/hooks/V.ts", "move"),
        ("packages/types/src/V.ts", "write"),
        ("notes/new file.md", "write"),
        ("old.ts", "delete"),
    ]
    assert why(PATCH) is None


def test_it_keeps_what_is_taken_out_and_put_in():
    _, moved, added, _ = patch_formats.parse(PATCH).files
    assert (moved.before, moved.after, moved.is_full_text) == (["old"], ["new"], False)
    assert (added.after, added.is_full_text) == (["one", "two"], True)


def test_windows_line_ends_and_indented_markers_count_too():
    assert read("*** Begin Patch\r\n  *** Delete File: a.ts\r\n*** End Patch\r\n") == [("a.ts", "delete")]


def test_markers_count_without_begin_and_end():
    assert read("*** Add File: a.ts\n*** Delete File: b/c.ts\n*** Update File: ./d.ts") == [
        ("a.ts", "write"),
        ("b/c.ts", "delete"),
        ("./d.ts", "write"),
    ]


def test_a_move_without_a_file_before_it_is_a_write():
    assert read("*** Move to: x.ts") == [("x.ts", "write")]


def test_a_unified_diff_names_changed_deleted_and_new_files():
    assert read(UNIFIED) == [
        ("src/a.ts", "write"),
        ("gone.ts", "write"),
        ("gone.ts", "delete"),
        ("made.ts", "write"),
    ]
    changed, *_, made = patch_formats.parse(UNIFIED).files
    assert (changed.before, changed.after) == (["one"], ["two"])
    assert made.is_full_text
    assert made.after == ["hello"]


def test_headers_without_git_prefixes_are_taken_as_they_are():
    assert read("--- src/a.ts\n+++ src/a.ts\n") == [("src/a.ts", "write")]
    assert read("--- a/x\n+++ a/x\n") == [("a/x", "write")]
    assert read("--- old.ts\n+++ new.ts\n") == [("old.ts", "move"), ("new.ts", "write")]


def test_an_indented_diff_is_a_diff():
    assert read("   --- a/x\n   +++ b/x\n") == [("x", "write")]


def test_a_header_hidden_in_a_hunk_counts():
    assert ("evil.ts", "write") in read("--- a/x\n+++ b/x\n@@ -1,99 +1,99 @@\n--- a/evil.ts\n+++ b/evil.ts\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("diff --git a/x y b/x y\nold mode 100644\nnew mode 100755\n", [("x y", "write")]),
        ("diff --git x x\nnew file mode 100644\n", [("x", "write")]),
        ("diff --git a/x b/z\nrename from x\nrename to z\n", [("x", "move"), ("z", "write")]),
        ("diff --git a/x b/z\ncopy from x\ncopy to z\n", [("x", "move"), ("z", "write"), ("x", "read")]),
        ('diff --git "a/\\303\\244.txt" "b/\\303\\244.txt"\n', [("ä.txt", "write")]),
        ('--- "a/q\\"\\t.txt"\n+++ /dev/null\n', [('q"\t.txt', "delete")]),
        (
            '--- "a/x" trailing\n+++ "b/x" trailing\n',
            [('"a/x" trailing', "move"), ('"b/x" trailing', "write")],
        ),
        ("Index: src/a.ts\n=====\n", [("src/a.ts", "write")]),
        ('--- "\n+++ "\n', [('"', "write")]),
    ],
)
def test_git_headers(text, expected):
    assert read(text) == expected
    assert why(text) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "names no file"),
        ("x", "names no file"),
        ("@@ -1 +1 @@\n-a\n+b\n", "names no file"),
        ("--- a/x\n+++ b/x\n*** 1,5 ****\n", "not a unified diff"),
        ("--- a/x\n+++ b/x\n***************\n", "not a unified diff"),
        ("Index: x\n5,7d\n", "not a unified diff"),
        ("diff --git a/one file b/another file\n", "names no file clearly"),
        ("*** Update File: \n", "names no file clearly"),
    ],
)
def test_what_cannot_be_read_is_said(text, reason):
    assert reason in why(text)


def test_the_files_that_were_found_count_although_the_rest_is_unknown():
    assert read("--- a/x\n+++ b/x\n*** 1,5 ****\n") == [("x", "write")]


@given(st.text(alphabet='*- +ab/\n\t"\\0:AdUpFilede', max_size=200))
def test_no_text_breaks_it(text):
    patch = patch_formats.parse(text)
    assert patch.files or patch.unreadable_reason
    assert all(file.path for file in patch.files)


def test_half_a_character_in_a_quoted_name_is_read_and_named_nowhere_else():
    text = '--- "a/x\ud800\\ty"\n+++ "b/x\ud800\\ty"\n'
    assert [(name.startswith("x"), name.endswith("\ty"), op) for name, op in read(text)] == [
        (True, True, "write")
    ]


def test_a_patch_of_very_many_parts_is_not_judged():
    parts = "\n@@\n-a\n+b" * (patch_formats.MAX_PARTS + 1)
    assert read(f"*** Update File: a.ts{parts}") == []
    assert why(f"*** Update File: a.ts{parts}") == "the patch has more than 2000 parts; make several of it"
