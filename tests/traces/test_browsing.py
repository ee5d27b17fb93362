"""The filter of the trace browser, the entries that fit, and how many they are: all agree, counted or not."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.db import transaction
from django.http import QueryDict

from tests.traces.builders import AWAY, HOME
from traces.browser import entry_counts, search
from traces.browser.filters import EntryFilters, Term, parse_filters
from traces.browser.search import build_branches, list_newest_ids, list_oldest_ids, load_page
from traces.counts import counters
from traces.counts.counters import Counters, count_sealed, recount, top_folder, uncounted
from traces.entries.projections import Recorded, project, rebuild
from traces.entries.record import Author, Mutation, trace_entry
from traces.entry_schema import read_entry
from traces.ledger.append import NewEntry, prepare
from traces.ledger.insert_rows import insert_rows
from traces.ledger.sealing import seal
from traces.models import Counted, EntryCount, FileCount, LedgerBody, LedgerEntry, TraceFile

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 2, 21, 10, 30, tzinfo=UTC)
PATHS = ("src/auth/a.ts", "src/auth/deep/b.ts", "src/billing/c.ts", "README.md")


def record(entry, at):
    """One entry, received at a given moment, with its projections."""
    made = prepare(entry, at)
    (row_id,) = insert_rows(LedgerEntry, [made.row], returning=True)
    insert_rows(LedgerBody, [{"entry_id": row_id, "salt": made.salt, "body": made.body}])
    if entry.kind == "trace":
        project([Recorded(row_id, entry.workspace_id, read_entry(entry.body))])
    return row_id


def decision(number, **fields):
    outcome = ("allow", "allow", "ask", "deny")[number % 4]
    reason = "" if outcome == "allow" else "not_in_scope"
    known = {
        "session_id": f"s-{number % 3}",
        "intent_id": f"INT-{number % 2}",
        "agent": ("codex", "Claude")[number % 2],
    }
    body = {"tool": "Write", "input": {"path": "x"}}
    return NewEntry(HOME, "decision", body, outcome=outcome, reason=reason, tool="Write", **known | fields)


def trace(path, intent="INT-0", workspace_id=HOME, entry_id=None):
    body = trace_entry(
        Mutation(path, content="x", mutation_class="AST_REFACTOR"), Author("s-9", intent, model="m")
    )
    body |= {"id": entry_id} if entry_id else {}
    return NewEntry(
        workspace_id, "trace", body, entry_id=body["id"], session_id="s-9", intent_id=intent, agent="m",
        outcome="AST_REFACTOR",
    )  # fmt: skip


@pytest.fixture
def past():
    """Ten days of decisions and traces, an entry every five hours, and one of another workspace."""
    with transaction.atomic():
        for number in range(48):
            at = NOW - timedelta(hours=5 * (48 - number), minutes=number)
            record(decision(number) if number % 3 else trace(PATHS[number % 4]), at)
        record(trace("src/auth/a.ts", workspace_id=AWAY), NOW)


def wanted(query):
    return parse_filters(QueryDict(query), NOW)


def found(query, most=100):
    fresh = uncounted(HOME, 1000)
    return list_newest_ids(build_branches(HOME, wanted(query), fresh), most)


def numbers(query):
    asked, fresh = wanted(query), uncounted(HOME, 1000)
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
    "folder=src/auth": lambda row: any(top_folder(file.path) == "src/auth" for file in row.files.all()),
    "folder=src/auth&folder=": lambda row: not row.files.all() or top_folder(row.files.all()[0].path) == "src/auth",
    "-folder=src/auth": lambda row: all(top_folder(file.path) != "src/auth" for file in row.files.all()),
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


@pytest.mark.parametrize("state", ["unsealed", "sealed", "half counted", "counted"])
def test_list_facets_and_density_agree_with_a_look_at_every_entry(past, monkeypatch, state):
    if state != "unsealed":
        seal(HOME)
    if state == "half counted":
        monkeypatch.setattr(counters, "BATCH", 20)
        Counted.objects.create(workspace_id=HOME)
        counters._count_batch(HOME)
    if state == "counted":
        assert Counters().run_once() == 48
        record(trace("src/new/z.ts"), NOW)
    for query, keep in QUERIES.items():
        ids = expected(keep)
        told = numbers(query)
        assert found(query) == ids, query
        assert told.total == len(ids), query
        assert sum(sum(bar.counts.values()) for bar in told.buckets) == len(ids), query
        kinds = Counter(LedgerEntry.objects.filter(pk__in=ids).values_list("kind", flat=True))
        assert dict(told.count_values("kind")) == dict(kinds), query


def test_the_way_from_frequent_paths_finds_the_same(past, monkeypatch):
    seal(HOME)
    count_sealed(HOME)
    monkeypatch.setattr(search, "MAX_INDEXED_ENTRIES", 0)
    for query in ("path=src/auth/", "q=auth/", "folder=src/auth"):
        assert found(query) == expected(QUERIES[query]), query
    assert build_branches(HOME, wanted("path=src/"), [])[0].scans


def test_what_is_only_looked_at_so_far_says_so(past, monkeypatch):
    seal(HOME)
    count_sealed(HOME)
    monkeypatch.setattr(search, "MAX_INDEXED_ENTRIES", 0)
    monkeypatch.setattr(entry_counts, "MAX_SCANNED", 10)
    told = numbers("path=src")
    assert told.capped
    assert 0 < told.total < len(expected(QUERIES["path=src"]))
    monkeypatch.setattr(entry_counts, "MAX_COUNTED", 5)
    told = numbers("session=s-1")
    assert (told.capped, told.total) == (True, 5)


def test_pages_follow_one_another_in_all_ways(past):
    ways = build_branches(HOME, wanted("q=INT-0"), uncounted(HOME, 1000))
    everything = expected(lambda row: row.intent_id == "INT-0")
    first = load_page(ways, 7)
    second = load_page(ways, 7, before=first.ids[-1])
    back = load_page(ways, 7, after=second.ids[0])
    assert first.ids + second.ids == everything[:14]
    assert (first.newer, first.older, second.newer) == (False, True, True)
    assert (back.ids, back.newer) == (first.ids, False)
    assert list_oldest_ids(ways, everything[5], 3) == everything[2:5][::-1]


def test_counts_are_made_once_and_anew_after_a_rebuild(past):
    seal(HOME)
    assert (count_sealed(HOME), count_sealed(HOME)) == (48, 0)
    before = (_entry_counts(), _file_counts())
    assert uncounted(HOME, 10) == []
    rebuild(HOME)
    assert (EntryCount.objects.count(), FileCount.objects.count()) == (0, 0)
    assert len(uncounted(HOME, 100)) == 48
    assert Counters().run_once() == 48
    assert (_entry_counts(), _file_counts()) == before
    with transaction.atomic():
        recount(HOME)
    assert not Counted.objects.filter(workspace_id=HOME).exists()


def test_the_loop_counts_everything_once_and_then_what_has_come(past):
    loop = Counters()
    assert loop.run_once() == 0
    seal(HOME)
    seal(AWAY)
    assert (loop.run_once(), loop.run_once()) == (49, 0)
    record(trace("src/auth/a.ts"), NOW)
    seal(HOME)
    assert loop.run_once() == 1


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
    body = trace_entry(Mutation("src/a/x.ts", content="x"), Author("s", "INT-1"))
    body["files"].append({**body["files"][0], "relative_path": "docs/b.md"})
    pk = record(NewEntry(HOME, "trace", body, entry_id=body["id"]), NOW)
    folders = TraceFile.objects.filter(entry=pk).order_by("pk").values_list("lead_folder", flat=True)
    assert list(folders) == ["src/a", ""]


def test_an_address_is_read_and_written_back():
    query = "kind=trace&-agent=codex&q=a+b&session=s&path=src%2F&since=2026-02-01T00%3A00%3A00Z"
    read = wanted(query)
    assert set(read.to_query_string()[1:].split("&")) == set(query.split("&"))
    assert wanted(read.to_query_string()[1:]) == read
    assert wanted("last=1h").since == NOW - timedelta(hours=1)
    assert wanted("last=1h&since=2026-02-01T00:00:00Z").last == ""
    assert EntryFilters().to_query_string() == "?"


def test_a_value_that_is_chosen_is_no_longer_left_out():
    term = Term("agent", "codex")
    refused = wanted("-agent=codex").with_term(term)
    assert refused.terms == (term,)
    assert refused.without_term(term).terms == ()


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("since=yesterday", "since: yesterday must be a time such as 2026-02-21T10:30."),
        ("since=2026-13-40T00:00", "since: 2026-13-40T00:00 must be a time such as 2026-02-21T10:30."),
        (
            "until=9999-01-01T00:00:00Z",
            "until: 9999-01-01T00:00:00Z must be a time such as 2026-02-21T10:30.",
        ),
        ("last=soon", "last: soon must be one of 15min, 1h, 24h, 7d, 30d."),
        ("since=2026-02-02T00:00:00Z&until=2026-02-01T00:00:00Z", "until: must be later than since."),
    ],
)
def test_what_cannot_be_read_is_told_and_left_out(query, problem):
    assert wanted(query).errors == (problem,)


def test_long_stretches_begin_and_end_with_full_hours():
    long, short = wanted("since=2026-02-01T10:20:30Z"), wanted("since=2026-02-21T09:20:30Z")
    assert (long.since, long.is_precounted) == (datetime(2026, 2, 1, 10, tzinfo=UTC), True)
    assert (short.since, short.is_precounted) == (datetime(2026, 2, 21, 9, 20, 30, tzinfo=UTC), False)
    assert wanted("until=2026-02-20T10:20:00Z").until == datetime(2026, 2, 20, 11, tzinfo=UTC)


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
    assert top_folder(path) == folder


def test_the_command_that_seals_counts_too(past, capsys):
    call_command("seal_ledger")
    assert "sealed 49 entries" in capsys.readouterr().out
    assert uncounted(HOME, 10) == []
    assert Counted.objects.get(workspace_id=HOME).leaves == 48
