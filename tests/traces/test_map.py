"""The map: who owns and who touched what."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from traces.filemap import Touch
from traces.known_intents import KnownIntent
from traces.matrix import Overlap, file_views, overlaps_of, owning_pattern, rows_of

DAY = datetime(2026, 2, 21, tzinfo=UTC)


def intent(number, *scope, status="IN_PROGRESS", removed=False):
    return KnownIntent(f"INT-{number}", f"Intent {number}", status, scope, removed)


def touch(path, intent_id="INT-1", entries=1):
    return Touch(path, intent_id, entries, DAY)


def states(touches, intents):
    return {
        file.path: [cell and (cell.state, cell.entries) for cell in file.cells]
        for file in file_views(touches, intents)
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


def test_folders_come_first_and_sum_what_is_below_them():
    intents = [intent(1, "src/**")]
    files = file_views(
        [touch("src/a/x.ts"), touch("src/b.ts", entries=2), touch("a.md"), touch("src/a/y.ts", "")], intents
    )
    rows = rows_of(files)
    assert [(row.path, row.depth, row.is_folder) for row in rows] == [
        ("src/", 0, True),
        ("src/a/", 1, True),
        ("src/a/x.ts", 2, False),
        ("src/a/y.ts", 2, False),
        ("src/b.ts", 1, False),
        ("a.md", 0, False),
    ]
    top = rows[0]
    assert (top.files, top.cells[0].entries, top.cells[0].state) == (3, 3, "both")
    assert rows[-1].cells == (None,) or rows[-1].cells[0].state == "outside"


def test_a_deep_tree_is_indented_only_so_far():
    rows = rows_of(file_views([touch("/".join("abcdefghijk"))], [intent(1, "**")]))
    assert max(row.depth for row in rows) == 6


def test_overlaps_of_open_intents_come_with_a_path_that_both_match():
    intents = [intent(1, "src/**"), intent(2, "src/b*.ts"), intent(3, "src/**", status="COMPLETED")]
    files = file_views([touch("src/b1.ts"), touch("src/a.ts")], intents)
    found = overlaps_of(intents, files)
    assert len(found) == 1
    assert found[0] == Overlap("INT-1", "INT-2", found[0].path, 1)
    assert found[0].path.startswith("src/b")


@pytest.mark.parametrize(
    ("path", "pattern"),
    [("src/a.ts", "src/**"), ("src/legacy/a.ts", ""), ("docs/a.md", "docs/*.md"), ("x", "")],
)
def test_the_pattern_by_which_an_intent_owns_a_file(path, pattern):
    assert owning_pattern(intent(1, "src/**", "!src/legacy/**", "docs/*.md"), path) == pattern
