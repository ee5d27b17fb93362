"""The search index: complete, found the same before and after indexing, rebuilt, cleared by redactions."""

from __future__ import annotations

import importlib
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connection

from tests.traces.builders import AWAY, HOME, append
from traces.ledger.append import NewEntry
from traces.ledger.new_leaves import LeafFollower
from traces.ledger.redaction import redact
from traces.ledger.sealing import seal
from traces.models import LedgerEntry, SearchPosting, SearchProgress, SearchTerm
from traces.search_index import indexer, lookup
from traces.search_index.indexer import index_sealed, rebuild_search_index
from traces.search_index.lookup import TermCondition, find_matching_entries, list_attempts

pytestmark = pytest.mark.django_db


def call(path="src/a.ts", outcome="allow", command="", workspace_id=HOME):
    body = {"targets": [path], "input": {"command": command} if command else {"path": path}}
    return append(
        NewEntry(workspace_id, "decision", body, outcome=outcome, tool="Write", session_id="s-1")
    ).id


def matching(condition, workspace_id=HOME):
    found = LedgerEntry.objects.none()
    for part, _ in find_matching_entries(workspace_id, condition):
        found |= LedgerEntry.objects.filter(part)
    return sorted(found.values_list("pk", flat=True))


def index():
    for workspace_id in (HOME, AWAY):
        seal(workspace_id)
    LeafFollower(index_sealed).run_once()


def rows():
    columns = ("term__workspace_id", "term__kind", "term__text", "entry_id", "attempt")
    return sorted(SearchPosting.objects.values_list(*columns))


@pytest.mark.parametrize("indexed", [False, True])
def test_entries_are_found_before_and_after_they_are_indexed(indexed):
    first, second = call("src/a.ts"), call("src/deep/b.ts", "ask", "rm -rf src/deep/b.ts")
    call("src/a.ts", workspace_id=AWAY)
    if indexed:
        index()
    assert matching(TermCondition.from_text("RM -RF")) == [second]
    assert matching(TermCondition.from_text("src/")) == [first, second]
    assert matching(TermCondition.from_path("src")) == [first, second]
    assert matching(TermCondition.from_path("src/a")) == []
    assert matching(TermCondition.from_path("SRC/a.ts")) == []
    assert matching(TermCondition.from_text("100%_")) == []
    assert list_attempts(HOME, "src/deep/b.ts", 10) == [second]
    assert list_attempts(HOME, "src/a.ts", 10) == []


@pytest.mark.parametrize("name", ["MAX_MATCHING_TERMS", "MAX_INDEXED_ENTRIES"])
def test_many_matches_are_found_by_scanning(monkeypatch, name):
    monkeypatch.setattr(lookup, name, 1)
    made = [call(f"src/{number}.ts") for number in range(4)]
    call("docs/a.md")
    index()
    assert matching(TermCondition.from_text("src")) == made
    ((_, scans),) = find_matching_entries(HOME, TermCondition.from_path("src"))
    assert scans


def test_the_loop_indexes_everything_once_and_then_what_has_come(monkeypatch):
    monkeypatch.setattr(indexer, "BATCH_SIZE", 2)
    loop = LeafFollower(index_sealed)
    for number in range(5):
        call(f"src/{number}.ts")
    assert loop.run_once() == 0
    seal(HOME)
    assert (loop.run_once(), loop.run_once()) == (5, 0)
    call()
    seal(HOME)
    assert loop.run_once() == 1
    assert SearchProgress.objects.get().leaves == 6
    assert SearchTerm.objects.count() == 6


def test_a_rebuilt_index_is_the_same():
    call("src/a.ts", "ask")
    call("src/a.ts", command="make")
    index()
    before = rows()
    SearchPosting.objects.filter(attempt=True).update(attempt=False)
    SearchTerm.objects.filter(text="make").update(text="forged")
    assert rebuild_search_index(HOME) == 2
    assert rows() == before


def test_a_second_indexer_leaves_the_batch_of_the_first(monkeypatch):
    call()
    seal(HOME)
    index_sealed(HOME)
    monkeypatch.setattr(indexer, "_find_progress", lambda _: 0)
    assert index_sealed(HOME) == 0
    assert len(rows()) == 1


@pytest.mark.parametrize("indexed", [False, True])
def test_a_redacted_entry_leaves_no_terms(indexed):
    secret = call("src/a.ts", command="deploy --password hunter2hunter2")
    kept = call("src/a.ts")
    if indexed:
        index()
    redact(LedgerEntry.objects.get(pk=secret), reason="secret", actor="Ada")
    index()
    assert matching(TermCondition.from_text("hunter2")) == []
    assert not SearchTerm.objects.filter(text__contains="hunter2").exists()
    assert kept in matching(TermCondition.from_path("src/a.ts"))


def test_a_body_that_went_while_it_was_read_is_not_indexed(monkeypatch):
    secret = call(command="deploy hunter2")
    seal(HOME)
    find_progress = indexer._find_progress

    def read_and_redact(workspace_id):
        redact(LedgerEntry.objects.get(pk=secret), reason="secret", actor="Ada")
        return find_progress(workspace_id)

    index_entry = indexer.index_entry
    monkeypatch.setattr(
        indexer, "index_entry", lambda *fields: (read_and_redact(HOME), index_entry(*fields))[1]
    )
    index_sealed(HOME)
    assert rows() == []


def test_the_migration_indexes_what_was_there_before():
    call("src/a.ts", "deny")
    index()
    before = rows()
    SearchPosting.objects.all().delete()
    SearchTerm.objects.all().delete()
    SearchProgress.objects.all().delete()
    migration = importlib.import_module("traces.migrations.0006_fill_search_index")
    migration.fill(apps, SimpleNamespace(connection=connection))
    assert rows() == before
