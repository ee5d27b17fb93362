"""Lists, counts and histograms agree with a scan of every entry."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pytest

from tests.traces.browser.samples import NOW, record, trace, wanted
from tests.traces.builders import HOME
from traces.browser import entry_counts, search
from traces.browser.search import build_branches, list_newest_ids, list_oldest_ids, load_page
from traces.counts import counters
from traces.counts.counters import count_sealed, find_top_directory, list_uncounted
from traces.ledger.new_leaves import LeafFollower
from traces.ledger.sealing import seal
from traces.models import Counted, LedgerEntry

pytestmark = pytest.mark.django_db


def found(query, most=100):
    fresh = list_uncounted(HOME, 1000)
    return list_newest_ids(build_branches(HOME, wanted(query), fresh), most)


def numbers(query):
    asked, fresh = wanted(query), list_uncounted(HOME, 1000)
    return entry_counts.count_entries(HOME, asked, fresh, build_branches(HOME, asked, fresh))


def expected(keep):
    """Row ids, newest first, of what a plain look at each entry lets through."""
    rows = LedgerEntry.objects.filter(workspace_id=HOME).prefetch_related("files").order_by("-pk")
    return [row.pk for row in rows if keep(row)]


QUERIES = {
    "": lambda row: True,
    "kind=trace": lambda row: row.kind == "trace",
    "kind=decision&outcome=deny&outcome=ask": lambda row: row.kind == "decision" and row.outcome in {"deny", "ask"},
    "-agent=codex&-kind=trace": lambda row: row.agent != "codex" and row.kind != "trace",
    "intent=INT-1&agent=Claude": lambda row: row.intent_id == "INT-1" and row.agent == "Claude",
    "folder=src/auth": lambda row: any(find_top_directory(file.path) == "src/auth" for file in row.files.all()),
    "folder=src/auth&folder=": lambda row: not row.files.all() or find_top_directory(row.files.all()[0].path) == "src/auth",
    "-folder=src/auth": lambda row: all(find_top_directory(file.path) != "src/auth" for file in row.files.all()),
    "-folder=": lambda row: bool(row.files.all()),
    "folder=./": lambda row: any(file.path == "README.md" for file in row.files.all()),
    "tool=Write&reason=not_in_scope": lambda row: row.reason == "not_in_scope",
    "since=2026-02-15T00:00:00Z": lambda row: row.received_at >= datetime(2026, 2, 15, tzinfo=UTC),
    "since=2026-02-13T07:00:00Z&until=2026-02-18T05:00:00Z&kind=trace": lambda row: (
        row.kind == "trace"
        and datetime(2026, 2, 13, 7, tzinfo=UTC) <= row.received_at < datetime(2026, 2, 18, 5, tzinfo=UTC)
    ),
    "until=2026-02-14T03:00:00Z": lambda row: row.received_at < datetime(2026, 2, 14, 3, tzinfo=UTC),
    "last=7d": lambda row: row.received_at >= datetime(2026, 2, 14, 10, tzinfo=UTC),
    "session=s-1": lambda row: row.session_id == "s-1",
    "path=src/auth/": lambda row: any(file.path.startswith("src/auth/") for file in row.files.all()),
    "path=src": lambda row: any(file.path.startswith("src/") for file in row.files.all()),
    "path=src/auth/a.ts&kind=trace": lambda row: any(file.path == "src/auth/a.ts" for file in row.files.all()),
    "q=CLAUDE": lambda row: row.agent == "Claude",
    "q=auth/": lambda row: any("auth/" in file.path for file in row.files.all()),
    "q=writ": lambda row: row.tool == "Write",
    "q=s-1": lambda row: row.session_id == "s-1",
    "q=INT-0&kind=trace": lambda row: row.kind == "trace" and row.intent_id == "INT-0",
    "q=nothing-like-it": lambda row: False,
    "agent=nobody": lambda row: False,
}  # fmt: skip


@pytest.mark.deep
@pytest.mark.parametrize("state", ["unsealed", "sealed", "half counted", "counted"])
def test_list_facets_and_density_agree_with_a_look_at_every_entry(past, monkeypatch, state):
    if state != "unsealed":
        seal(HOME)
    if state == "half counted":
        monkeypatch.setattr(counters, "BATCH_SIZE", 20)
        Counted.objects.create(workspace_id=HOME)
        counters._count_batch(HOME)
    if state == "counted":
        assert LeafFollower(count_sealed).run_once() == 48
        record(trace("src/new/z.ts"), NOW)
    # One ledger for all queries: building it costs more than a test of its own would give each.
    assert [message for query, keep in QUERIES.items() for message in disagreements(query, keep)] == []


def disagreements(query, keep):
    ids = expected(keep)
    counts = numbers(query)
    kinds = Counter(LedgerEntry.objects.filter(pk__in=ids).values_list("kind", flat=True))
    checks = {
        "list": found(query) == ids,
        "total": counts.total == len(ids),
        "histogram": sum(sum(bucket.counts.values()) for bucket in counts.buckets) == len(ids),
        "facet": dict(counts.count_values("kind")) == dict(kinds),
    }
    return [f"{query}: {name}" for name, agrees in checks.items() if not agrees]


@pytest.mark.parametrize("query", ["path=src/auth/", "q=auth/", "folder=src/auth"])
def test_the_way_from_frequent_paths_finds_the_same(past, monkeypatch, query):
    seal(HOME)
    count_sealed(HOME)
    monkeypatch.setattr(search, "MAX_INDEXED_ENTRIES", 0)
    assert found(query) == expected(QUERIES[query])
    assert build_branches(HOME, wanted("path=src/"), [])[0].scans


def test_what_is_only_looked_at_so_far_says_so(past, monkeypatch):
    seal(HOME)
    count_sealed(HOME)
    monkeypatch.setattr(search, "MAX_INDEXED_ENTRIES", 0)
    monkeypatch.setattr(entry_counts, "MAX_SCANNED", 10)
    told = numbers("path=src")
    assert told.is_capped
    assert 0 < told.total < len(expected(QUERIES["path=src"]))
    monkeypatch.setattr(entry_counts, "MAX_COUNTED", 5)
    told = numbers("session=s-1")
    assert (told.is_capped, told.total) == (True, 5)


def test_pages_follow_one_another_in_all_ways(past):
    ways = build_branches(HOME, wanted("q=INT-0"), list_uncounted(HOME, 1000))
    everything = expected(lambda row: row.intent_id == "INT-0")
    first = load_page(ways, 7)
    second = load_page(ways, 7, before=first.ids[-1])
    back = load_page(ways, 7, after=second.ids[0])
    assert first.ids + second.ids == everything[:14]
    assert (first.has_newer, first.has_older, second.has_newer) == (False, True, True)
    assert (back.ids, back.has_newer) == (first.ids, False)
    assert list_oldest_ids(ways, everything[5], 3) == everything[2:5][::-1]


def test_the_changes_of_a_file_are_found_before_they_are_counted(past):
    """As right after a large import, when not even the uncounted entries are all looked at."""
    branches = build_branches(HOME, wanted("path=src/auth/a.ts&kind=trace"), [])
    ids = {pk for branch in branches for pk in branch.entries.values_list("pk", flat=True)}
    assert ids
    assert ids == set(expected(QUERIES["path=src/auth/a.ts&kind=trace"]))
