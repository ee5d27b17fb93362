"""The rows of the map: directories that open, and sums of what is below them."""

from __future__ import annotations

from tests.traces.filemap.samples import intent, touch
from traces.filemap.matrix import build_map_files
from traces.filemap.tree import build_rows, build_tree


def rows(touches, intents, at="", **how):
    files = build_map_files(touches, intents)
    return build_rows(build_tree(files), [one.intent_id for one in intents], at, **how)


def test_folders_come_first_and_sum_what_is_below_them():
    intents = [intent(1, "src/**")]
    touched = [touch("src/a/x.ts"), touch("src/b.ts", entries=2), touch("a.md"), touch("src/a/y.ts", "")]
    found, left_out = rows(touched, intents)
    assert left_out == 0
    assert [(row.path, row.depth, row.is_directory) for row in found] == [
        ("src/", 0, True),
        ("src/a/", 1, True),
        ("src/a/x.ts", 2, False),
        ("src/a/y.ts", 2, False),
        ("src/b.ts", 1, False),
        ("a.md", 0, False),
    ]
    top = found[0]
    assert (top.files, top.cells[0].entries, top.cells[0].state) == (3, 3, "both")
    assert found[-1].cells[0].state == "outside"


def test_a_deep_tree_is_indented_only_so_far():
    found, _ = rows([touch("/".join("abcdefghijk"))], [intent(1, "**")])
    assert max(row.depth for row in found) == 6


def test_a_large_tree_opens_one_folder_at_a_time():
    touched = [touch(f"src/part{part}/file{number}.ts") for part in range(5) for number in range(30)]
    found, left_out = rows(touched, [intent(1, "src/**")])
    assert [row.path for row in found] == ["src/", *(f"src/part{part}/" for part in range(5))]
    assert [(row.is_open, row.files) for row in found[:2]] == [(True, 150), (False, 30)]
    opened, _ = rows(touched, [intent(1, "src/**")], "src/part3/", unfold=False)
    assert [row.path for row in opened if row.is_open] == ["src/", "src/part3/"]
    assert sum(not row.is_directory for row in opened) == 30
    flat, left_out = rows([touch(f"f{number:03}.ts") for number in range(200)], [intent(1, "**")])
    assert (len(flat), left_out) == (80, 120)
