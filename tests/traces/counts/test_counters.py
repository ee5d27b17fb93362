"""Stored counts: made once, in every time range, by whoever seals."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import transaction

from tests.traces.browser.samples import NOW, record, trace
from tests.traces.builders import AWAY, HOME
from traces.counts import counters
from traces.counts.counters import count_sealed, find_top_directory, list_uncounted, recount
from traces.entries.record import Mutation, MutationAuthor, build_trace_entry
from traces.ledger.append import NewEntry
from traces.ledger.new_leaves import LeafFollower
from traces.ledger.sealing import seal
from traces.models import Counted, EntryCount, FileCount, TraceFile
from traces.verification.repair import rebuild_projections

pytestmark = pytest.mark.django_db


def test_counts_are_made_once_and_anew_after_a_rebuild(past):
    seal(HOME)
    assert (count_sealed(HOME), count_sealed(HOME)) == (48, 0)
    before = (_entry_counts(), _file_counts())
    assert list_uncounted(HOME, 10) == []
    rebuild_projections(HOME)
    assert (EntryCount.objects.count(), FileCount.objects.count()) == (0, 0)
    assert len(list_uncounted(HOME, 100)) == 48
    assert LeafFollower(count_sealed).run_once() == 48
    assert (_entry_counts(), _file_counts()) == before
    with transaction.atomic():
        recount(HOME)
    assert not Counted.objects.filter(workspace_id=HOME).exists()


def test_the_loop_counts_everything_once_and_then_what_has_come(past):
    loop = LeafFollower(count_sealed)
    assert loop.run_once() == 0
    seal(HOME)
    seal(AWAY)
    assert (loop.run_once(), loop.run_once()) == (49, 0)
    record(trace("src/auth/a.ts"), NOW)
    seal(HOME)
    assert loop.run_once() == 1


def test_the_loop_reads_nothing_of_workspaces_without_new_leaves(past, django_assert_num_queries):
    loop = LeafFollower(count_sealed)
    seal(HOME)
    seal(AWAY)
    loop.run_once()
    with django_assert_num_queries(1):
        assert loop.run_once() == 0


def _entry_counts():
    return sorted(EntryCount.objects.values_list("span", "bucket", "kind", "folder", "entries"))


def _file_counts():
    return sorted(FileCount.objects.values_list("path", "intent_id", "entries", "last_changed"))


def test_an_hour_a_day_and_a_month_hold_the_same_entries(past):
    seal(HOME)
    count_sealed(HOME)
    for span in counters.SPANS:
        assert sum(EntryCount.objects.filter(span=span).values_list("entries", flat=True)) == 48


def test_one_file_of_an_entry_leads():
    body = build_trace_entry(Mutation("src/a/x.ts", content="x"), MutationAuthor("s", "INT-1"))
    body["files"].append({**body["files"][0], "relative_path": "docs/b.md"})
    pk = record(NewEntry(HOME, "trace", body, entry_id=body["id"]), NOW)
    folders = TraceFile.objects.filter(entry=pk).order_by("pk").values_list("lead_folder", flat=True)
    assert list(folders) == ["src/a", ""]


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("a.md", "./"),
        ("src/a.ts", "src"),
        ("src/b/a.ts", "src/b"),
        ("src/b/c/a.ts", "src/b"),
        ("é" * 300 + "/a", "é" * 200),
    ],
)
def test_the_top_folder_of_a_path(path, folder):
    assert find_top_directory(path) == folder


def test_the_command_that_seals_counts_too(past, capsys):
    call_command("seal_ledger")
    assert "sealed 49 entries" in capsys.readouterr().out
    assert list_uncounted(HOME, 10) == []
    assert Counted.objects.get(workspace_id=HOME).leaves == 48
