"""The cells of the map: who owns, who touched, which scopes overlap."""

from __future__ import annotations

import pytest

from tests.traces.filemap.samples import intent, touch
from traces.filemap.matrix import build_map_files, find_owning_pattern, list_overlaps
from traces.filemap.tree import build_rows, build_tree


def states(touches, intents):
    ids = [one.intent_id for one in intents]
    return {
        file.path: [cell and (cell.state, cell.entries) for cell in map(file.cells.get, ids)]
        for file in build_map_files(touches, intents)
    }


def test_each_cell_says_who_owns_and_who_touched():
    intents = [intent(1, "src/**"), intent(2, "src/shared/**", "docs/**")]
    touches = [
        touch("src/a.ts", entries=3),
        touch("src/shared/b.ts"),
        touch("docs/c.md"),
        touch("docs/d.md", "INT-2", 2),
        touch("README.md", ""),
    ]
    assert states(touches, intents) == {
        "README.md": [None, None],
        "docs/c.md": [("outside", 1), ("owned", 0)],
        "docs/d.md": [None, ("both", 2)],
        "src/a.ts": [("both", 3), None],
        "src/shared/b.ts": [("shared", 1), ("shared", 0)],
    }


def test_a_closed_intent_owns_nothing_but_what_it_did_in_its_scope_was_its_own():
    intents = [intent(1, "src/**", status="COMPLETED"), intent(2, "src/**", removed=True)]
    touches = [touch("src/a.ts"), touch("docs/b.md"), touch("src/a.ts", "INT-2")]
    assert states(touches, intents) == {
        "docs/b.md": [("outside", 1), None],
        "src/a.ts": [("both", 1), ("both", 1)],
    }


def test_files_on_disk_that_nobody_touched_are_owned_or_gaps():
    files = build_map_files([touch("src/a.ts")], [intent(1, "src/**")], ["src/a.ts", "src/b.ts", "docs/c.md"])
    assert [(file.path, [cell.state for cell in file.cells.values()], file.owners) for file in files] == [
        ("docs/c.md", [], ()),
        ("src/a.ts", ["both"], ("INT-1",)),
        ("src/b.ts", ["owned"], ("INT-1",)),
    ]
    row = build_rows(build_tree(files), ["INT-1"])[0][0]
    assert (row.path, row.files, row.unowned) == ("docs/", 1, 1)


def test_overlaps_of_open_intents_come_with_a_path_that_both_match():
    intents = [intent(1, "src/**"), intent(2, "src/b*.ts"), intent(3, "src/**", status="COMPLETED")]
    files = build_map_files([touch("src/b1.ts"), touch("src/a.ts")], intents)
    found = list_overlaps(intents, files)
    assert len(found) == 1
    assert (found[0].a, found[0].b, found[0].files) == ("INT-1", "INT-2", 1)
    assert found[0].patterns == ("src/**", "src/b*.ts")
    assert (found[0].both_wrote, found[0].coupling) == (0, 0)
    assert found[0].path.startswith("src/b")


@pytest.mark.parametrize(
    ("path", "pattern"),
    [("src/a.ts", "src/**"), ("src/legacy/a.ts", ""), ("docs/a.md", "docs/*.md"), ("x", "")],
)
def test_the_pattern_by_which_an_intent_owns_a_file(path, pattern):
    assert find_owning_pattern(intent(1, "src/**", "!src/legacy/**", "docs/*.md"), path) == pattern
