"""The map: who owns and who touched what."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from traces.counts.counters import microseconds
from traces.entries.known_intents import KnownIntent
from traces.filemap.matrix import build_map_files, find_owning_pattern, list_overlaps
from traces.filemap.search import extract_terms, search_files
from traces.filemap.touches import Touch
from traces.filemap.tree import build_rows, build_tree
from traces.lessons.store import Lesson

DAY = datetime(2026, 2, 21, tzinfo=UTC)


def intent(number, *scope, status="IN_PROGRESS", removed=False):
    return KnownIntent(f"INT-{number}", f"Intent {number}", status, scope, removed)


def rows(touches, intents, at="", **how):
    files = build_map_files(touches, intents)
    return build_rows(build_tree(files), [one.intent_id for one in intents], at, **how)


def touch(path, intent_id="INT-1", entries=1):
    return Touch(path, intent_id, entries, microseconds(DAY))


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


def test_files_on_disk_that_nobody_touched_are_owned_or_gaps():
    files = build_map_files([touch("src/a.ts")], [intent(1, "src/**")], ["src/a.ts", "src/b.ts", "docs/c.md"])
    assert [(file.path, [cell.state for cell in file.cells.values()], file.owners) for file in files] == [
        ("docs/c.md", [], ()),
        ("src/a.ts", ["both"], ("INT-1",)),
        ("src/b.ts", ["owned"], ("INT-1",)),
    ]
    row = build_rows(build_tree(files), ["INT-1"])[0][0]
    assert (row.path, row.files, row.unowned) == ("docs/", 1, 1)


BILLING = KnownIntent(
    "INT-7", "Refactor invoices", "IN_PROGRESS", ("src/money/**",), False, "Tidy the billing logic"
)


def asked(question, touches, lessons=()):
    intents = [intent(1, "src/auth/**"), BILLING]
    return [
        (one.path, one.matched_in)
        for one in search_files(question, build_map_files(touches, intents), intents, lessons)
    ]


def test_where_is_the_billing_logic():
    touched = [touch("src/money/tax.ts", "INT-7"), touch("src/auth/login.ts"), touch("web/billing.css", "")]
    assert asked("Where is the billing logic?", touched) == [
        ("web/billing.css", ("path",)),
        ("src/money/tax.ts", ("goal",)),
    ]
    assert asked("invoices", touched) == [("src/money/tax.ts", ("intent",))]
    assert asked("login invoices", touched) == [
        ("src/auth/login.ts", ("path",)),
        ("src/money/tax.ts", ("intent",)),
    ]
    assert asked("tax invoices", touched) == [("src/money/tax.ts", ("path", "intent"))]
    assert asked("nothing-like-it", touched) == asked("?", touched) == []


def test_lessons_answer_too_and_files_of_one_folder_answer_together():
    more = ("src/auth/login.ts",)
    lesson = Lesson("l", DAY.date(), "src/auth/a.ts", "Rounding of cents is wrong", more_files=more)
    assert asked("rounding", [touch("src/auth/login.ts")], [lesson]) == [("src/auth/login.ts", ("lesson",))]
    touched = [touch(f"src/auth/{name}.ts") for name in ("a", "b", "c")]
    assert asked("auth", touched) == [("src/auth/", ("path",))]


def test_words_that_say_nothing_count_only_where_there_are_no_others():
    assert extract_terms("Where is the Billing logic?") == ["billing"]
    assert extract_terms("where is it") == ["where", "is", "it"]


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
