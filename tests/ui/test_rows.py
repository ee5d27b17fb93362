"""Long paths and commands in rows: the file keeps its name, and nothing hidden is lost with what is cut."""

from __future__ import annotations

import html

import pytest

from controlplane.templatetags.rows import MAX_FOLDER_LENGTH, MAX_NAME_LENGTH, row_command, row_path


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("a.ts", '<bdi class="path"><b>a.ts</b></bdi>'),
        ("src/a.ts", '<bdi class="path">src/<b>a.ts</b></bdi>'),
        ("src/" + "deep/" * 20 + "a.ts", "src/…/" + "deep/" * 9 + "<b>a.ts</b>"),
        ("x" * 60 + "/y/a.ts", "x" * 15 + "…" + "x" * 8 + "/…/y/<b>a.ts</b>"),
        ("-" * 100 + ".py", "<b>" + "-" * 42 + "…" + "-" * 18 + ".py</b>"),
    ],
)
def test_a_path_is_cut_in_its_folders(path, shown):
    assert shown in str(row_path(path))


@pytest.mark.parametrize(
    "path", ["src/" + "deep/" * 200 + "a.ts", "/" * 300, "a" * 5000 + "/" + "b" * 5000, ""]
)
def test_a_row_has_a_bounded_length_and_the_whole_path_in_its_title(path):
    drawn = str(row_path(path))
    cut = drawn.partition(">")[2]
    assert len(cut) <= MAX_FOLDER_LENGTH + MAX_NAME_LENGTH + 40
    assert f'title="{path}"' in drawn or path in ("", html.unescape(cut))


def test_nothing_hostile_survives():
    drawn = str(row_path("<script>/\u202e" + '"><img>' * 30 + "/a"))
    assert "<script>" not in drawn
    assert "<img>" not in drawn
    assert "\u202e" not in drawn
    assert "\u202e" not in str(row_command("rm \u202e <b>" + "x" * 500))
    assert str(row_command("rm <b>" + "x" * 500)).startswith("rm &lt;b&gt;x")
    assert len(str(row_command("y" * 500))) == 120
