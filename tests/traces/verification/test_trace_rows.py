"""The tables that pages read cannot say anything else than the entries, whoever writes to the database."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from controlplane.models import Workspace
from tests.traces.builders import AWAY, HOME, append, tamper
from traces.counts.counters import count_sealed
from traces.entries.deduplicate import SubmittedEntry
from traces.entries.projections import RecordedTrace, write_projections
from traces.entries.reconciliations import record_reconciliation
from traces.entries.record import (
    Mutation,
    MutationAuthor,
    StoreOptions,
    find_newest_hashes,
    record_mutation,
    store_entries,
)
from traces.entry_schema import parse_entry
from traces.ledger.append import NewEntry
from traces.ledger.redaction import redact
from traces.ledger.sealing import seal
from traces.models import (
    EntryCount,
    FileCount,
    LedgerCheck,
    LedgerEntry,
    ReconciledSubject,
    TraceEntry,
    TraceFile,
    TraceRange,
)
from traces.verification.registry import list_projections
from traces.verification.repair import rebuild_projections
from traces.verification.slices import check_slice
from traces.verification.verify import verify

pytestmark = pytest.mark.django_db

MAX = MutationAuthor("s-1", "INT-001", agent="claude-code", model="claude-x", actor="token:1:Max")
GUARDED = ("traces_traceentry", "traces_tracefile", "traces_tracerange", "traces_reconciledsubject")


def entry(entry_id, path="src/a.ts"):
    conversation = {
        "url": "s-1",
        "ranges": [{"start_line": 1, "end_line": 3, "content_hash": "sha256:aa"}],
        "related": [{"type": "specification", "value": "INT-001"}],
    }
    files = [{"relative_path": path, "conversations": [conversation]}]
    return {"id": entry_id, "timestamp": "2026-02-21T12:00:00.123456Z", "files": files}


def post(*entries, **options):
    with transaction.atomic():
        return store_entries(
            HOME, [SubmittedEntry(one) for one in entries], StoreOptions("Ada", **options)
        ).appended


def record(path, text):
    return record_mutation(HOME, Mutation(path, content=text, mutation_class="AST_REFACTOR"), MAX)


def old_entry(entry_id):
    """An entry of a ledger from before digests of rows."""
    body = entry(entry_id)
    made = append(NewEntry(HOME, "trace", body, entry_id=entry_id, session_id="s-1", intent_id="INT-001"))
    write_projections([RecordedTrace(made.id, HOME, parse_entry(body))])
    return made


@pytest.fixture
def ledger():
    """Live, posted, imported and old trace entries beside a decision, sealed and counted."""
    append()
    record("pay.py", "a\nb\n")
    record("pay.py", "a\n")
    post(entry("posted"), entry("imported-like", "lib/b.ts"))
    post(entry("imported", "lib/c.ts"), imported=True, source="old.jsonl")
    old_entry("old")
    seal(HOME)
    count_sealed(HOME)


def found(report=None):
    report = report or verify(HOME)
    return [(problem.kind, problem.entry_id) for problem in report.problems]


def test_an_untouched_ledger_holds(ledger):
    assert verify(HOME).ok
    assert {check.table for check in list_projections()} >= {"traces_tracefile", "traces_reconciledsubject"}


def entry_of(entry_id):
    if entry_id == "live":
        return LedgerEntry.objects.filter(files__path="pay.py").latest("pk")
    return LedgerEntry.objects.get(entry_id=entry_id)


FORGERIES = {
    "path": "UPDATE traces_tracefile SET path = 'src/zzz.py' WHERE entry_id = %s",
    "hash": "UPDATE traces_tracefile SET content_hash = 'sha256:evil' WHERE entry_id = %s",
    "class": "UPDATE traces_tracefile SET mutation_class = 'INTENT_EVOLUTION' WHERE entry_id = %s",
    "intent": "UPDATE traces_tracefile SET intent_id = 'INT-666' WHERE entry_id = %s",
    "session": "UPDATE traces_tracefile SET session_id = 's-666' WHERE entry_id = %s",
    "deleted": "UPDATE traces_tracefile SET deleted = (1 = 1) WHERE entry_id = %s",
    "symbols": "UPDATE traces_tracefile SET symbols = '[1]' WHERE entry_id = %s",
    "folder": "UPDATE traces_tracefile SET lead_folder = 'zzz' WHERE entry_id = %s",
    "time of a file": "UPDATE traces_tracefile SET changed_at = '2020-01-01 00:00:00+00:00' WHERE entry_id = %s",
    "workspace": "UPDATE traces_tracefile SET workspace_id = 8 WHERE entry_id = %s",
    "lines": (
        "UPDATE traces_tracerange SET end_line = 99 "
        "WHERE file_id IN (SELECT id FROM traces_tracefile WHERE entry_id = %s)"
    ),
    "lines gone": (
        "DELETE FROM traces_tracerange WHERE file_id IN (SELECT id FROM traces_tracefile WHERE entry_id = %s)"
    ),
    "contributor": (
        "UPDATE traces_tracerange SET contributor = 'HUMAN', model = 'x' "
        "WHERE file_id IN (SELECT id FROM traces_tracefile WHERE entry_id = %s)"
    ),
    "revision": "UPDATE traces_traceentry SET revision_id = 'f00' WHERE entry_id = %s",
    "time": "UPDATE traces_traceentry SET changed_at = '2020-01-01 00:00:00+00:00' WHERE entry_id = %s",
    "origin": "UPDATE traces_traceentry SET imported = NOT imported WHERE entry_id = %s",
    "a row more": (
        "INSERT INTO traces_tracefile (workspace_id, path, session_id, intent_id, changed_at, mutation_class, "
        "content_hash, deleted, imported, lead_folder, symbols, salt, entry_id) SELECT workspace_id, 'more.py', "
        "session_id, intent_id, changed_at, mutation_class, content_hash, deleted, imported, '', symbols, salt, "
        "entry_id FROM traces_tracefile WHERE entry_id = %s"
    ),
    "lines more": (
        "INSERT INTO traces_tracerange (file_id, start_line, end_line, content_hash, contributor, model) "
        "SELECT id, 5, 9, 'sha256:aa', 'AI', 'm' FROM traces_tracefile WHERE entry_id = %s"
    ),
}


@pytest.mark.parametrize("forgery", FORGERIES)
@pytest.mark.parametrize("name", ["live", "posted", "imported", "old"])
def test_rows_that_say_something_else_are_named_with_their_entry(ledger, name, forgery):
    victim = entry_of(name)
    tamper(FORGERIES[forgery], [victim.pk])
    kinds = found()
    assert ("PROJECTION_CHANGED", victim.entry_id) in kinds
    assert {kind for kind, _ in kinds} == {"PROJECTION_CHANGED"}


def test_both_copies_of_the_origin_changed_together_are_named(ledger):
    for name, imported in (("imported", False), ("live", True)):
        victim = entry_of(name)
        tamper("UPDATE traces_traceentry SET imported = %s WHERE entry_id = %s", [imported, victim.pk])
        tamper("UPDATE traces_tracefile SET imported = %s WHERE entry_id = %s", [imported, victim.pk])
        assert ("PROJECTION_CHANGED", victim.entry_id) in found()


def test_missing_rows_are_named(ledger):
    victim = entry_of("posted")
    of_it = "file_id IN (SELECT id FROM traces_tracefile WHERE entry_id = %s)"
    tamper(f"DELETE FROM traces_tracerange WHERE {of_it}", [victim.pk])
    tamper("DELETE FROM traces_tracefile WHERE entry_id = %s", [victim.pk])
    assert ("PROJECTION_CHANGED", "posted") in found()
    tamper("DELETE FROM traces_traceentry WHERE entry_id = %s", [victim.pk])
    assert ("PROJECTION_CHANGED", "posted") in found()


def test_rows_at_an_entry_that_is_no_trace_are_named(ledger):
    decision = LedgerEntry.objects.get(kind="decision")
    tamper("UPDATE traces_tracefile SET entry_id = %s WHERE path = 'lib/b.ts'", [decision.pk])
    assert ("PROJECTION_CHANGED", decision.entry_id) in found()


def test_an_unsealed_entry_is_compared_as_well(ledger):
    (made,) = post(entry("young"))
    tamper(FORGERIES["hash"], [made.id])
    assert found() == [("PROJECTION_CHANGED", "young")]


@pytest.mark.parametrize(
    "forgery",
    [
        "UPDATE traces_filecount SET entries = entries + 5 WHERE path = 'pay.py'",
        "UPDATE traces_filecount SET evolved = evolved + 1 WHERE path = 'pay.py'",
        "UPDATE traces_filecount SET last_changed = last_changed - 1 WHERE path = 'pay.py'",
        "UPDATE traces_filecount SET path = 'more.py' WHERE path = 'pay.py'",
        "DELETE FROM traces_filecount WHERE path = 'pay.py'",
        "UPDATE traces_entrycount SET entries = entries + 5 WHERE span = 3600",
        "UPDATE traces_entrycount SET entries = entries + 5 WHERE span = 86400",
        "UPDATE traces_entrycount SET outcome = 'deny' WHERE kind = 'decision'",
        "DELETE FROM traces_entrycount WHERE span > 86400",
    ],
)
def test_counts_that_say_something_else_are_named(ledger, forgery):
    tamper(forgery)
    kinds = found()
    assert kinds
    assert {kind for kind, _ in kinds} == {"PROJECTION_CHANGED"}


def test_counts_that_lag_behind_hold(ledger):
    record("late.py", "x")
    seal(HOME)
    assert verify(HOME).ok
    assert EntryCount.objects.exists()
    assert FileCount.objects.exists()


@pytest.mark.parametrize("table", GUARDED)
@pytest.mark.parametrize("statement", ["UPDATE {0} SET id = id", "DELETE FROM {0}"])
def test_triggers_refuse_to_change_rows(ledger, table, statement):
    reconciliation()
    key = "entry_id" if table == "traces_traceentry" else "id"
    with pytest.raises(DatabaseError, match="ledger"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement.format(table).replace("id = id", f"{key} = {key}"))


def test_every_guarded_table_has_its_triggers():
    """A later migration that rebuilds a table on SQLite would silently lose them."""
    query = (
        "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
        if connection.vendor == "postgresql"
        else "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    )
    suffixes = ("rows", "all") if connection.vendor == "postgresql" else ("update", "delete")
    with connection.cursor() as cursor:
        cursor.execute(query)
        names = {name for (name,) in cursor.fetchall()}
    evidence = ("ledgerentry", "ledgerbody", "ledgerleaf", "ledgertile", "checkpoint", "ledgerarchive")
    tables = [*(f"traces_{table}" for table in evidence), *GUARDED]
    assert {f"{table}_{suffix}" for table in tables for suffix in suffixes} <= names


def test_a_redaction_takes_the_rows_along_and_the_ledger_holds(ledger):
    for name in ("live", "posted", "imported", "old"):
        victim = entry_of(name)
        redact(victim, reason="secret", actor="Ada")
        assert not TraceFile.objects.filter(entry=victim).exists()
        assert verify(HOME).ok
    assert list(FileCount.objects.order_by("path").values_list("path", "entries")) == [
        ("lib/b.ts", 1),
        ("pay.py", 1),
    ]
    seal(HOME)
    count_sealed(HOME)
    assert verify(HOME).ok


def reconciliation():
    finding = {"session_id": "s-1", "intent_id": "INT-001"}
    body = {"session_id": "s-2", "intent_id": None, "findings": [finding], "explained": []}
    made, _ = record_reconciliation(HOME, body, actor="Ada")
    return made


def test_subjects_of_a_reconciliation_are_compared_with_its_body():
    made = reconciliation()
    seal(HOME)
    assert ReconciledSubject.objects.filter(entry=made).count() == 3
    assert verify(HOME).ok
    tamper("UPDATE traces_reconciledsubject SET subject_id = 's-3' WHERE subject_id = 's-1'")
    assert found() == [("PROJECTION_CHANGED", made.entry_id)]


def test_rows_of_another_workspace_are_strays(ledger):
    tamper("UPDATE traces_tracefile SET workspace_id = %s WHERE path = 'lib/b.ts'", [AWAY])
    assert [kind for kind, _ in found(verify(AWAY))] == ["PROJECTION_CHANGED"]


def test_rows_that_were_changed_are_rebuilt(ledger):
    before = find_newest_hashes(HOME, ["pay.py"])
    for forgery in ("hash", "lines", "origin"):
        for name in ("live", "posted", "imported", "old"):
            tamper(FORGERIES[forgery], [entry_of(name).pk])
    assert not verify(HOME).ok
    assert rebuild_projections(HOME) == 6
    assert find_newest_hashes(HOME, ["pay.py"]) == before
    assert TraceEntry.objects.filter(imported=True).count() == 1
    assert TraceRange.objects.count() == 6
    assert verify(HOME).ok
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM traces_tracefile")


def test_the_command_names_the_entry_and_another_one_repairs(ledger, capsys):
    Workspace.objects.create(pk=HOME, slug="home", name="Home")
    victim = entry_of("posted")
    tamper(FORGERIES["hash"], [victim.pk])
    with pytest.raises(CommandError):
        call_command("verify_ledger", workspace="home")
    out = capsys.readouterr().out
    assert "PROJECTION_CHANGED entry posted" in out
    assert "another content_hash for src/a.ts" in out
    call_command("rebuild_projections", workspace="home")
    call_command("verify_ledger", workspace="home")
    assert "home: holds" in capsys.readouterr().out


class TestSlices:
    def run(self):
        while True:
            check_slice(HOME, size=2)
            check = self.check()
            if not check.next_seq:
                return check

    def check(self):
        return LedgerCheck.objects.get(pk=HOME)

    def test_slices_cover_the_ledger_and_say_when(self, ledger):
        assert check_slice(HOME, size=2) == 2
        assert (self.check().next_seq, self.check().completed_at) == (2, None)
        check = self.run()
        assert (check.completed_size, check.found) == (7, [])
        assert check.completed_at is not None

    def test_a_slice_names_what_was_changed_until_a_pass_finds_nothing(self, ledger):
        victim = entry_of("posted")
        tamper(FORGERIES["hash"], [victim.pk])
        assert [(one["kind"], one["entry_id"]) for one in self.run().found] == [
            ("PROJECTION_CHANGED", "posted")
        ]
        rebuild_projections(HOME)
        assert self.run().found == []

    def test_a_slice_finds_a_gap_a_wrong_root_and_wrong_counts(self, ledger):
        tamper("UPDATE traces_filecount SET entries = entries + 5 WHERE path = 'pay.py'")
        tamper("UPDATE traces_checkpoint SET root = %s", [b"x" * 32])
        kinds = {one["kind"] for one in self.run().found}
        assert kinds == {"PROJECTION_CHANGED", "ROOT_MISMATCH"}
        tamper("DELETE FROM traces_ledgerleaf WHERE seq = 3")
        assert "ENTRIES_MISSING" in {one["kind"] for one in self.run().found}

    def test_an_empty_ledger_is_checked_at_once(self):
        check_slice(HOME)
        assert (self.check().completed_size, self.check().found) == (0, [])
